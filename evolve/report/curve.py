"""Curve of the best fitness so far: against programs, seconds, calls, tokens and money.

Invariant: a point is what a program's first evaluation found, so that of a noisy task a lucky one may stand there; `confirmed` says which were
measured again. Nothing of an earlier version of the task is on the curve."""

from dataclasses import dataclass, replace

import numpy as np

from evolve.campaign import Campaign
from evolve.report.frame import Flags, Numbers, RecordFrame, frame, rank
from evolve.report.records import trust_of
from evolve.types import RecordId, Trust


@dataclass(frozen=True, slots=True)
class Point:
    """Record `record` was the best when `programs` had been evaluated, itself included, and this was spent; `fitness` is in the user's
    direction. `confirmed`: its program was measured again, or the task is deterministic; what is claimed never is."""

    record: RecordId
    programs: int
    seconds: float
    calls: int
    tokens: int
    money: float
    fitness: float
    confirmed: bool
    isolation: str = ""
    trust: Trust = "claimed"


def curve(campaign: Campaign) -> tuple[Point, ...]:
    """Returns a point for each time that the best fitness got better, among the programs that meet the constraints and are not quarantined; then one
    for now, with the last one's record and fitness. Empty before the first score."""
    columns, state = frame(campaign), campaign.state
    among = _flag_first_evaluations(campaign, columns) & (columns.violations == 0.0) & ~flag_quarantined(campaign)
    among[: columns.since] = False
    places = strictly_better(columns, among).tolist()
    if not places:
        return ()
    evaluated, active = np.cumsum(columns.flag_programs()), campaign.log.active_of(place + 1 for place in places)
    measured = _find_measured(campaign, columns)
    points = [
        Point(
            record=place + 1,
            programs=int(evaluated[place]),
            seconds=active[place + 1],
            calls=state.columns.calls[place],
            tokens=state.columns.tokens[place],
            money=state.columns.money[place],
            fitness=campaign.task.fitness.shown(float(columns.fitness[place])),
            confirmed=_is_confirmed(campaign, place + 1, measured),
            isolation=state.columns.isolations[place],
            trust=trust_of(campaign, place + 1),
        )
        for place in places
    ]
    # The last point says that nothing better was found with what was spent since.
    spent = state.progress
    now = replace(
        points[-1],
        programs=spent.programs,
        seconds=spent.seconds,
        calls=spent.calls,
        tokens=spent.tokens,
        money=spent.money,
    )
    return (*points, now)


def _flag_first_evaluations(campaign: Campaign, columns: RecordFrame) -> Flags:
    """Returns the records that are the first success of their program, as the present version of the task evaluates."""
    first = ~columns.kind("measurement") & ~np.isnan(columns.fitness)
    if not columns.since:
        return first
    programs, seen = campaign.state.columns.programs, set[str | None]()
    for place in range(columns.since, len(columns)):
        if not np.isnan(columns.fitness[place]):
            first[place] = programs[place] not in seen
            seen.add(programs[place])
    return first


def _find_measured(campaign: Campaign, columns: RecordFrame) -> set[str | None]:
    """Returns the programs that were measured again, with success."""
    programs = campaign.state.columns.programs
    again = columns.kind("measurement") & ~np.isnan(columns.fitness)
    again[: columns.since] = False
    return {programs[place] for place in np.flatnonzero(again).tolist()}


def _is_confirmed(campaign: Campaign, record: RecordId, measured: set[str | None]) -> bool:
    program = campaign.state.columns.programs[record - 1]
    return program not in campaign.state.claimed and (campaign.task.deterministic or program in measured)


def flag_quarantined(campaign: Campaign) -> Flags:
    """Returns the records whose program is quarantined."""
    programs, out = campaign.state.columns.programs, campaign.state.quarantined
    if not out:
        return np.zeros(len(programs), np.bool_)
    return np.fromiter((program in out for program in programs), np.bool_, len(programs))


def strictly_better(columns: RecordFrame, among: Flags) -> Numbers:
    """Returns the places of those that were better than all before them among these, the first success too; those of earlier versions of the task
    have a beginning of their own. Constraints come first."""
    ranks = np.where(among, rank(columns), 0)
    found = []
    # Scores of two versions of the task do not compare.
    for begin, end in ((0, columns.since), (columns.since, len(columns))):
        part = ranks[begin:end]
        before = np.concatenate(([0], np.maximum.accumulate(part)[:-1])) if len(part) else part
        found.append(np.flatnonzero(part > before) + begin)
    return np.concatenate(found)
