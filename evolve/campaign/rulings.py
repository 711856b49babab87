"""Rulings of persons on programs.

A ruling that changes nothing is not written, and none takes the last program that could be a parent."""

import math
from collections.abc import Collection, Sequence
from typing import Literal

from evolve.campaign.campaign import Campaign
from evolve.campaign.inbox import PERSON, Answer, Quarantine, Release
from evolve.campaign.state import State
from evolve.types import ConfigError, ProgramId, RecordId, Ruled

What = Literal["quarantine", "release"]
_NAMED = 10
_DONE = {"quarantine": "quarantined", "release": "released"}
_BEFORE = {"quarantine": "quarantined already", "release": "not quarantined"}


def rule(campaign: Campaign, wish: Quarantine | Release, request: str) -> Answer:
    """Writes the rulings that a person asked for, and says what they changed; raises `ConfigError`. Inside a transaction."""
    state, former = campaign.state, best_record(campaign.state)
    what: What = "quarantine" if isinstance(wish, Quarantine) else "release"
    family = _family(state, program_of(campaign, wish.record), descendants=wish.descendants)
    changed = [program for program in family if (program in state.quarantined) != (what == "quarantine")]
    if what == "quarantine":
        _check_something_is_left(campaign, changed)
    for program in changed:
        campaign.write(Ruled(what, program, PERSON, wish.why, request))
    first = state.columns.first_records()
    records = tuple(first[program] for program in changed)
    best = state.archive.best
    return Answer(
        request,
        accepted=True,
        told=_format_answer(campaign.name, wish, what, records),
        records=records,
        former=former,
        best=best_record(state),
        fitness=None if best is None else campaign.task.fitness.shown((best.reported or best.estimate).mean),
    )


def best_record(state: State) -> RecordId:
    """Returns the record of the best program; 0 where there is none."""
    best = state.archive.best
    return 0 if best is None else best.record


def program_of(campaign: Campaign, record: RecordId) -> ProgramId:
    """Returns the program of a record; raises `ConfigError` where there is none."""
    programs = campaign.state.columns.programs
    if not 1 <= record <= len(programs):
        raise ConfigError(
            f"campaign {campaign.name!r} has no record {record}: it has {len(programs)}. "
            f"Try: `evolve program list {campaign.name} --all` shows them"
        )
    program = programs[record - 1]
    if program is None:
        raise ConfigError(
            f"{campaign.name}/{record} has no program: its proposal was screened. Try: `evolve program list` shows those that have one"
        )
    return program


def _family(state: State, program: ProgramId, *, descendants: bool) -> Sequence[ProgramId]:
    """Returns the program, and all that have it or one of the others among their parents, in the order of their records."""
    family = {program: None}
    if descendants:
        programs = state.columns.programs
        # Parents settle before their children, so that one pass finds all generations.
        for child, parents in zip(programs, state.columns.parents, strict=True):
            if child is not None and any(programs[parent - 1] in family for parent in parents):
                family[child] = None
    return list(family)


def _check_something_is_left(campaign: Campaign, leaving: Collection[ProgramId]) -> None:
    columns, quarantined = campaign.state.columns, campaign.state.quarantined
    out = {*leaving, *quarantined}
    values = zip(columns.programs[columns.since :], columns.fitness[columns.since :], strict=True)
    if leaving and all(program in out or math.isnan(fitness) for program, fitness in values):
        raise ConfigError(
            f"nothing would be left in campaign {campaign.name!r} that could be a parent. "
            f"Try: add another program first (evolve program add FILE --campaign {campaign.name})"
        )


def _format_answer(name: str, wish: Quarantine | Release, what: What, records: Sequence[RecordId]) -> str:
    if not records:
        more = ", and so is all that came of it" if wish.descendants else ""
        return f"{name}/{wish.record} is {_BEFORE[what]}{more}"
    more = f" and {len(records) - _NAMED:,} more" if len(records) > _NAMED else ""
    return f"{_DONE[what]}: {', '.join(f'{name}/{record}' for record in records[:_NAMED])}{more}"
