"""`evolve compare`: strategies and settings against each other, at equal budget. docs/comparing.md explains the figures."""

from evolve_compare.comparison import Comparison, ComparisonQuestion, compare_arms, compare_outcomes, read_arm
from evolve_compare.fairness import ComparedArm
from evolve_compare.outcomes import CampaignOutcome, read_outcome

__all__ = [
    "ComparedArm",
    "CampaignOutcome",
    "Comparison",
    "ComparisonQuestion",
    "compare_arms",
    "compare_outcomes",
    "read_arm",
    "read_outcome",
]
