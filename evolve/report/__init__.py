"""Values that a campaign has found: for a person to read, for `--json`, for a page or a plot.

Nothing is written or printed, and every fitness is in the user's direction."""

from evolve.report.best import (
    AnchorGap,
    Best,
    CaseLine,
    Closest,
    FrontLine,
    Kept,
    KeptLine,
    Limits,
    MissedLine,
    ObjectiveLine,
    Ratio,
    anchor_gaps,
    best,
    cases,
    certificate,
    closest,
    front_line,
    kept,
    limits,
    missed,
    nearest,
    objectives,
)
from evolve.report.blame import BlameLine, Difference, blame, difference, differences, program_of
from evolve.report.calls import (
    CallLine,
    CostLine,
    Costs,
    Improvements,
    Said,
    WholeCall,
    call_line,
    calls_of,
    costs,
    lineage_cost,
    waiting,
    whole_call,
)
from evolve.report.columnar import Columnar, columnar, harmless, write_csv, write_parquet
from evolve.report.curve import Point, curve
from evolve.report.elites import AxisLine, EliteLine, Heat, HeatCell, elites, front, heat
from evolve.report.failing import LOOKED_AT, FailureClass, failures
from evolve.report.overview import Overview, budget_left, left_out, lessons_learnt, overview
from evolve.report.record_view import EstimateLine, RecordView, RulingLine, Shown, record_view, whole
from evolve.report.records import (
    LineageStep,
    RecordLine,
    found,
    lineage,
    made_by,
    measurements,
    record_line,
    record_name,
    records,
    settled,
)
from evolve.report.relatives import Node, Offspring, Tree, children, find_best_child, offspring, tree
from evolve.report.table import MATCHES, PROGRAMS, SORTS, Page, Wanted, page, selected
from evolve.report.yields import Slice, Tally, Yield, slices

__all__ = ["AnchorGap", "Best", "CaseLine", "Closest", "FrontLine", "Kept", "KeptLine", "Limits", "MissedLine", "ObjectiveLine", "Ratio", "anchor_gaps", "best", "cases", "certificate", "closest", "front_line", "kept", "limits", "missed", "nearest", "objectives", "BlameLine", "Difference", "blame", "difference", "differences", "program_of", "CallLine", "CostLine", "Costs", "Improvements", "Said", "WholeCall", "call_line", "calls_of", "costs", "lineage_cost", "waiting", "whole_call", "Columnar", "columnar", "harmless", "write_csv", "write_parquet", "Point", "curve", "AxisLine", "EliteLine", "Heat", "HeatCell", "elites", "front", "heat", "LOOKED_AT", "FailureClass", "failures", "Overview", "budget_left", "left_out", "lessons_learnt", "overview", "EstimateLine", "RecordView", "RulingLine", "Shown", "record_view", "whole", "LineageStep", "RecordLine", "found", "lineage", "made_by", "measurements", "record_line", "record_name", "records", "settled", "Node", "Offspring", "Tree", "children", "find_best_child", "offspring", "tree", "MATCHES", "PROGRAMS", "SORTS", "Page", "Wanted", "page", "selected", "Slice", "Tally", "Yield", "slices"]
