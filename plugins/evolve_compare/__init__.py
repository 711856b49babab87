"""`evolve compare`: strategies and settings against each other, at equal budget. docs/comparing.md explains the figures."""

from evolve_compare.comparison import Comparison, compare_outcomes
from evolve_compare.fairness import ComparedArm
from evolve_compare.outcomes import CampaignOutcome, read_outcome

__all__ = [
    "ComparedArm",
    "CampaignOutcome",
    "Comparison",
    "compare_outcomes",
    "read_outcome",
]
