"""Budgets: what ends a campaign, as values and as a person writes them."""

from evolve.stop.budget import (
    SCARCITY,
    UNITS,
    Amount,
    Budget,
    Resource,
    Target,
    Unit,
    Until,
    any_of,
    duration,
    spelled,
    tightest,
)
from evolve.stop.parsing import EXAMPLES, budget_from, exact, parse

__all__ = [
    "EXAMPLES",
    "SCARCITY",
    "UNITS",
    "Amount",
    "Budget",
    "Resource",
    "Target",
    "Unit",
    "Until",
    "any_of",
    "budget_from",
    "duration",
    "exact",
    "parse",
    "spelled",
    "tightest",
]
