"""Children of a program, and the tree that first parents make of all programs.

In a tree each node's parent is a node too, but the root's; what is left out is counted."""

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from evolve.campaign import Campaign
from evolve.report.frame import Flags, RecordFrame, first_parents, frame
from evolve.report.records import RecordLine, record_line, settled, trust_of
from evolve.types import FAILURES, Outcome, ProgramId, RecordId, Trust


@dataclass(frozen=True, slots=True)
class OffspringCounts:
    """Numbers of children: how many a record's program has, and how many of them failed when they were judged or were never judged."""

    children: int
    failed: int
    screened: int


@dataclass(frozen=True, slots=True)
class Node:
    """A program by its first record. `parent` is the first one, 0 for a root; `elite`: it holds a place in the archive, `best`: it is the best."""

    record: RecordId
    parent: RecordId
    fitness: float | None
    outcome: str
    operator: str
    elite: bool
    best: bool
    isolation: str = ""
    trust: Trust = "claimed"


@dataclass(frozen=True, slots=True)
class LineageTree:
    """Nodes in the order of their records, so that a parent is before its children. `left_out` counts the programs that are no node."""

    nodes: tuple[Node, ...]
    left_out: int


def children(campaign: Campaign, record: RecordId, limit: int | None = None) -> tuple[RecordLine, ...]:
    """The proposals that had a record's program as a parent, in the order in which they settled."""
    found = _children(campaign, record)[:limit]
    return tuple(record_line(campaign, campaign.log.settled(child)) for child in found)


def offspring(campaign: Campaign, record: RecordId) -> OffspringCounts:
    """The children of a record's program, counted."""
    history = campaign.state.history
    outcomes = [history.outcome(child) for child in _children(campaign, record)]
    failed = sum(outcome in FAILURES for outcome in outcomes)
    return OffspringCounts(len(outcomes), failed, outcomes.count(Outcome.SCREENED))


def _children(campaign: Campaign, record: RecordId) -> list[RecordId]:
    """A parent may be named by any record of its program: the one that judged it last is."""
    columns = campaign.state.columns
    program = settled(campaign, record).record.program
    if program is None:
        return []
    same = (number for number, other in enumerate(columns.programs, 1) if other == program)
    return sorted({child for number in same for child in columns.children.get(number, ())})


def tree(campaign: Campaign, most: int = 2000, root: RecordId | None = None) -> LineageTree:
    """The programs and their first parents, from `root` on if one is named: the best and its line first, then elites, then whoever
    is fitter, each with its line, until there are `most`."""
    columns = frame(campaign)
    parents = _parents(campaign, columns)
    shown = ~columns.kind("measurement") & _have_programs(campaign, columns)
    if root is not None:
        shown &= _descendants(parents, settled(campaign, root).record.origin.about or root)
    elites = {elite.program for elite in campaign.state.archive.elites()}
    chosen = _chosen(_by_rank(campaign, columns, elites), parents, shown.tolist(), most)
    nodes = tuple(_node(campaign, place, parents[place], chosen, elites) for place in sorted(chosen))
    return LineageTree(nodes, int(np.count_nonzero(shown)) - len(nodes))


def _have_programs(campaign: Campaign, columns: RecordFrame) -> Flags:
    programs = campaign.state.columns.programs
    return np.fromiter((program is not None for program in programs), np.bool_, len(columns))


def _parents(campaign: Campaign, columns: RecordFrame) -> list[RecordId]:
    """The first parent of each; where that is a measurement, the first record of the program that it measured."""
    parents = first_parents(campaign)[: len(columns)]
    again = columns.kind("measurement")
    again = np.concatenate(([False], again))[parents]
    if again.any():
        programs, first = campaign.state.columns.programs, campaign.state.columns.first_records()
        for place in np.flatnonzero(again).tolist():
            program = programs[int(parents[place]) - 1]
            parents[place] = 0 if program is None else first[program]
    return list(map(int, parents.tolist()))


def _descendants(parents: list[RecordId], root: RecordId) -> Flags:
    """Flags the root, and who has it in its line of first parents."""
    inside = bytearray(len(parents) + 1)
    inside[root] = 1
    for record in range(root + 1, len(parents) + 1):
        inside[record] = inside[parents[record - 1]]
    return np.frombuffer(bytes(inside[1:]), np.bool_)


def _by_rank(campaign: Campaign, columns: RecordFrame, elites: Set[ProgramId]) -> list[int]:
    """Returns all places: those of the best program and of elites first, the fittest first of each."""
    programs, best = campaign.state.columns.programs, campaign.state.archive.best
    order = columns.best_first()
    held = np.fromiter((program in elites for program in programs), np.bool_, len(columns))[order]
    first = [] if best is None else [place for place in order[held].tolist() if programs[place] == best.program]
    return [*first, *order[held].tolist(), *order[~held].tolist()]


def _chosen(ranked: list[int], parents: list[RecordId], shown: list[bool], most: int) -> set[int]:
    """As many places as there may be, each with all those between it and its root; a line that has no room is left out as a whole."""
    chosen: set[int] = set()
    for place in ranked:
        if len(chosen) >= most:
            break
        line = []
        while place >= 0 and shown[place] and place not in chosen:
            line.append(place)
            place = parents[place] - 1
        if len(chosen) + len(line) <= most:
            chosen.update(line)
    return chosen


def find_best_child(campaign: Campaign, record: RecordId) -> RecordId:
    """Returns the fittest child, those that meet the constraints first; 0 where none has passed."""
    history = campaign.state.history
    fit = [
        (history.violation(child), -value, child)
        for child in history.children(record)
        if (value := history.fitness(child)) is not None
    ]
    return min(fit)[2] if fit else 0


def _node(campaign: Campaign, place: int, parent: RecordId, chosen: Set[int], elites: Set[ProgramId]) -> Node:
    history, record, best = campaign.state.history, place + 1, campaign.state.archive.best
    fitness, program = history.fitness(record), history.program_id(record)
    return Node(
        record=record,
        parent=parent if parent - 1 in chosen else 0,
        fitness=None if fitness is None else campaign.task.fitness.shown(fitness),
        outcome=history.outcome(record).value,
        operator=history.operator(record),
        elite=program in elites,
        best=best is not None and program == best.program,
        isolation=campaign.state.columns.isolations[place],
        trust=trust_of(campaign, record),
    )
