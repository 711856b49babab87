"""Strategies and settings against each other, at equal budget.

Invariant: a difference is told with its uncertainty, and where there is none to be seen, that is said."""

from evolve.compare.arms import Arm, Group, Question
from evolve.compare.comparison import Comparison, Line, compared, weighed
from evolve.compare.course import Circumstances, Course, Mark, Spent, beside, course
from evolve.compare.duels import Duel, Wins
from evolve.compare.reaching import Reached, Target
from evolve.compare.resources import RESOURCES, Resource

__all__ = [
    "RESOURCES",
    "Arm",
    "Circumstances",
    "Comparison",
    "Course",
    "Duel",
    "Group",
    "Line",
    "Mark",
    "Question",
    "Reached",
    "Resource",
    "Spent",
    "Target",
    "Wins",
    "beside",
    "compared",
    "course",
    "weighed",
]
