"""Strategies and settings against each other, at equal budget.

Invariant: a difference is told with its uncertainty, and where there is none to be seen, that is said."""

from evolve.compare.course import Circumstances, Course, Mark, Spent, course

__all__ = ["Circumstances", "Course", "Mark", "Spent", "course"]
