"""What a campaign has found, as values: for a person to read, for `--json`, for a page or a plot.

Invariant: nothing is written or printed, no text of a program is loaded, and every fitness is in the user's direction."""

from evolve.report.best import AnchorGap, Best, CaseLine, anchor_gaps, best, cases, certificate, nearest
from evolve.report.elites import EliteLine, elites
from evolve.report.overview import Overview, budget_left, overview
from evolve.report.records import (
    LineageStep,
    RecordLine,
    lineage,
    measurements,
    record_line,
    record_name,
    records,
    settled,
)
from evolve.report.tally import OperatorYield, Tally

__all__ = [
    "AnchorGap",
    "Best",
    "CaseLine",
    "EliteLine",
    "LineageStep",
    "OperatorYield",
    "Overview",
    "RecordLine",
    "Tally",
    "anchor_gaps",
    "best",
    "cases",
    "certificate",
    "budget_left",
    "elites",
    "lineage",
    "measurements",
    "nearest",
    "overview",
    "record_line",
    "record_name",
    "records",
    "settled",
]
