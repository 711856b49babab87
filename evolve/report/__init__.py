"""What a campaign has found, as values: for a person to read, for `--json`, for a page or a plot.

Invariant: nothing is written or printed, no text of a program is loaded, and every fitness is in the user's direction."""

from evolve.report.aims import Closest, FrontLine, MissedLine, ObjectiveLine, closest, front_line, missed, objectives
from evolve.report.best import AnchorGap, Best, CaseLine, anchor_gaps, best, cases, certificate, nearest
from evolve.report.blame import BlameLine, blame
from evolve.report.calls import CallLine, Said, WholeCall, call_line, calls_of, waiting, whole_call
from evolve.report.columnar import Columnar, columnar, write_csv, write_parquet
from evolve.report.costs import CostLine, Costs, Improvements, costs, lineage_cost
from evolve.report.curve import Point, curve
from evolve.report.difference import Difference, difference, differences, program_of
from evolve.report.elites import EliteLine, elites, front
from evolve.report.evidence import EstimateLine, RulingLine, Shown, whole
from evolve.report.failing import FailureClass, failures
from evolve.report.frame import frame, quarantined
from evolve.report.heat import AxisLine, Heat, HeatCell, heat
from evolve.report.held_out import kept
from evolve.report.kin import Node, Offspring, Tree, children, offspring, tree
from evolve.report.over_time import Slice, slices
from evolve.report.overview import Overview, budget_left, left_out, lessons_learnt, overview
from evolve.report.ratio import Ratio
from evolve.report.records import (
    LineageStep,
    RecordLine,
    lineage,
    made_by,
    measurements,
    record_line,
    record_name,
    records,
    settled,
)
from evolve.report.search import found
from evolve.report.table import MATCHES, SORTS, Page, Wanted, page, selected
from evolve.report.tally import Tally, Yield

__all__ = [
    "frame",
    "quarantined",
    "kept",
    "MATCHES",
    "Columnar",
    "columnar",
    "write_csv",
    "write_parquet",
    "BlameLine",
    "blame",
    "Point",
    "curve",
    "Difference",
    "difference",
    "differences",
    "program_of",
    "EstimateLine",
    "RulingLine",
    "Shown",
    "whole",
    "FailureClass",
    "failures",
    "AxisLine",
    "Heat",
    "HeatCell",
    "heat",
    "Node",
    "Offspring",
    "Tree",
    "children",
    "offspring",
    "tree",
    "Slice",
    "slices",
    "found",
    "SORTS",
    "Page",
    "Wanted",
    "page",
    "selected",
    "lineage_cost",
    "AnchorGap",
    "Best",
    "CallLine",
    "CaseLine",
    "Closest",
    "CostLine",
    "Costs",
    "EliteLine",
    "FrontLine",
    "Improvements",
    "LineageStep",
    "MissedLine",
    "ObjectiveLine",
    "Overview",
    "Ratio",
    "RecordLine",
    "Said",
    "Tally",
    "WholeCall",
    "Yield",
    "anchor_gaps",
    "best",
    "call_line",
    "calls_of",
    "cases",
    "certificate",
    "closest",
    "budget_left",
    "costs",
    "elites",
    "front",
    "front_line",
    "left_out",
    "lessons_learnt",
    "lineage",
    "made_by",
    "measurements",
    "missed",
    "nearest",
    "objectives",
    "overview",
    "record_line",
    "record_name",
    "records",
    "settled",
    "waiting",
    "whole_call",
]
