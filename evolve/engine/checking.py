"""What a strategy may ask for: an action that cannot be done must never be in a log, for every later run would begin with it.

Invariant: what passes is as a replay would read it; nothing here changes the campaign."""

from typing import TypeVar

from evolve.campaign import Campaign
from evolve.types import Measure, Propose, Rearrange, RecordId, Selection, Task
from evolve.types.codec import decode, encode

Action = TypeVar("Action", Propose, Measure, Rearrange)


def checked(campaign: Campaign, action: object) -> Propose | Measure | Rearrange:
    """The action as the log would say it; raises `ValueError` for one that cannot be done."""
    match action:
        case Propose():
            propose = _as_logged(action)
            _check_selection(campaign, propose.selection)
            return propose
        case Measure():
            measure = _as_logged(action)
            _check_measure(campaign, measure)
            return measure
        case Rearrange():
            rearrange = _as_logged(action)
            _check_arrangement(campaign, rearrange)
            return rearrange
    raise ValueError(f"for a {type(action).__name__}, wanted Propose, Measure, Rearrange or Wait")


def _check_selection(campaign: Campaign, selection: Selection) -> None:
    names = campaign.usable_operators
    if selection.operator not in names:
        raise ValueError(f"for operator {selection.operator!r}, wanted one of {', '.join(names)}")
    _check_island(campaign, selection.island)
    models = campaign.settings.models.proposing if campaign.traits(selection.operator).needs_model else ()
    if selection.model and selection.model not in models:
        raise ValueError(f"for model {selection.model!r}, wanted one of {', '.join(models) or 'none'}, or ''")
    if selection.samples < 1:
        raise ValueError(f"for {selection.samples} samples, wanted 1 or more")
    for record in (*selection.parents, *selection.inspirations):
        _check_record(campaign, record)


def _check_measure(campaign: Campaign, measure: Measure) -> None:
    _check_record(campaign, measure.about)
    if campaign.state.columns.programs[measure.about - 1] != measure.program:
        raise ValueError(
            f"to measure program {measure.program!r} about record {measure.about}, which has another program"
        )
    cases = campaign.state.cases.wanted
    if measure.case and measure.case not in cases:
        raise ValueError(f"for case {measure.case!r}, wanted one of {', '.join(map(repr, cases))} or ''")
    stages = _stages(campaign.task)
    if measure.stage and measure.stage not in stages:
        raise ValueError(f"for stage {measure.stage!r}, wanted one of {', '.join(map(repr, stages))} or ''")


def _check_arrangement(campaign: Campaign, rearrange: Rearrange) -> None:
    _check_island(campaign, rearrange.island)
    records = rearrange.records
    if len(set(records)) < len(records):
        raise ValueError(f"to arrange a record twice, {', '.join(map(str, records))}")
    for record in records:
        _check_record(campaign, record)
        if not campaign.state.archive.accepts(record):
            raise ValueError(
                f"to arrange record {record}, whose program may hold no place: it was not accepted, has failed since, or is quarantined"
            )


def _check_island(campaign: Campaign, island: int) -> None:
    islands = campaign.state.archive.settings.islands
    if not 0 <= island < islands:
        raise ValueError(f"for island {island}, wanted 0 to {islands - 1}")


def _check_record(campaign: Campaign, record: RecordId) -> None:
    programs = campaign.state.columns.programs
    if not 0 < record <= len(programs) or programs[record - 1] is None:
        raise ValueError(f"about record {record}, which has not settled or has no program")


def _as_logged(action: Action) -> Action:
    """The action as a replay would read it; raises `ValueError` where the log cannot hold it."""
    try:
        logged: Action = decode(type(action), encode(action))
    except ValueError as error:
        raise ValueError(f"for a {type(action).__name__} that the log cannot hold: {error}") from error
    return logged


def _stages(task: Task) -> list[str]:
    """The names of what a measurement may run instead of the whole cascade."""
    return [stage.name for stage in task.stages] + ["certify"] * (task.promotion == "certificate")
