"""Places and who holds them: the best of all, and every cell of every island, contested under the rule of confirmation.

A place in a cell changes hands here alone; a cell has at most one challenger that waits, so what waits is bounded by what there is to win. A
contest that waits is settled anew whenever one of its two sides was measured. The best is never quarantined, never misses a constraint, nor
is it pending against the best before it. Programs come to other islands without randomness; a copy is a role, so that its record, its cell and
its estimate stay the same."""

import math
from array import array
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evolve.archive.confirmation import (
    REFRESH,
    TITLE,
    ConfirmationRule,
    ContestVerdict,
    MeasurementQueue,
    QueueEntry,
    Rank,
    Standing,
    decide,
    lacks,
)
from evolve.archive.evidence import Evidence
from evolve.types import Insertion


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """The archive's rules, by counts. `cells` are those of a grid of the axes' bins, or `centroids` regions around centroids (`cvt`).
    `capacity` is elites per cell. Every `migrate_every` settled proposals of an island its
    best `migrants` elites are copied to the next one (0: never). Every `reset_every` settled proposals per island, counted
    over all islands, the worse half of the islands is cleared and each gets the best of a better one (0: never), as in
    FunSearch (https://doi.org/10.1038/s41586-023-06924-6). `z` and `sigmas` are the confirmation rule's, see `confirmation`."""

    islands: int = 4
    capacity: int = 1
    migrate_every: int = 200
    migrants: int = 1
    reset_every: int = 0
    z: float = 2.0
    sigmas: float = 5.0
    cells: Literal["grid", "cvt"] = "grid"
    centroids: int = 1000


Ranked = tuple[Rank, int]


class Island:
    """Programs are numbers of the evidence. `ranking` and `cells` hold (rank, program); `waiting` the one challenger of a
    cell; `members` are append-only, for the day when an elite is taken
    out; `settled` counts proposals."""

    def __init__(self) -> None:
        self.cells: dict[int, list[Ranked]] = {}
        self.ranking: list[Ranked] = []
        self.places: dict[int, Ranked] = {}
        self.waiting: dict[int, int] = {}
        self.members: dict[int, array[int]] = {}
        self.settled = 0
        self.since = 0

    def __contains__(self, program: int) -> bool:
        return program in self.places

    def join(self, program: int, cell: int) -> None:
        """Makes a program a member of its cell, which gives it no place yet."""
        members = self.members.get(cell)
        if members is None:
            members = self.members[cell] = array("i")
        members.append(program)

    def put(self, program: int, cell: int, rank: Rank) -> None:
        """Gives a program a place."""
        entry = (rank, program)
        self.places[program] = entry
        # The rank of that moment stays in the entry: a value that changes later must still find its place in the sorted lists.
        insort(self.cells.setdefault(cell, []), entry)
        insort(self.ranking, entry)

    def take(self, program: int, cell: int) -> Rank:
        """Takes a program's place away; returns the rank that it had there."""
        entry = self.places.pop(program)
        holders = self.cells[cell]
        holders.remove(entry)
        if not holders:
            del self.cells[cell]
        del self.ranking[bisect_left(self.ranking, entry)]
        return entry[0]

    def weakest(self, cell: int) -> int:
        """Returns the last elite of an occupied cell."""
        return self.cells[cell][-1][1]

    def best(self) -> int | None:
        """Returns the first of the ranking."""
        return self.ranking[0][1] if self.ranking else None

    def clear(self, *, since: int) -> None:
        """Nobody belongs here any more; programs from number `since` on may."""
        self.since = since
        for column in (self.cells, self.ranking, self.places, self.waiting, self.members):
            column.clear()

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {
            "cells": [[cell, [program for _, program in holders]] for cell, holders in sorted(self.cells.items())],
            "waiting": sorted(self.waiting.items()),
            "members": [[cell, list(programs)] for cell, programs in sorted(self.members.items())],
            "settled": self.settled,
            "since": self.since,
        }


class Confirmation:
    """Confirmation of programs, from the evidence, the rule of this task on this machine, and the queue. Programs are numbers of the evidence."""

    def __init__(self, evidence: Evidence, rule: ConfirmationRule) -> None:
        self.evidence = evidence
        self.rule = rule
        self.queue = MeasurementQueue()

    def verdict(self, challenger: int, incumbent: int | None, *, title: bool = False) -> ContestVerdict:
        """Returns the verdict on a challenger; rejected where a side that must be measured cannot be."""
        other = None if incumbent is None else self._standing(incumbent)
        verdict = decide(self.rule, self._standing(challenger), other, title=title)
        if verdict is ContestVerdict.PENDING and any(map(self.queue.is_given_up, self.lacking(challenger, incumbent))):
            return ContestVerdict.REJECT
        return verdict

    def lacking(self, challenger: int, incumbent: int | None) -> list[int]:
        """Returns the programs to measure before there can be a verdict, the incumbent first; in a noisy task alone, for the challenger
        may be beaten by what is found."""
        missing = []
        if incumbent is not None and lacks(self.rule, self._standing(incumbent), challenges=False):
            missing.append(incumbent)
        if not (missing and self.rule.noisy) and lacks(self.rule, self._standing(challenger), challenges=True):
            missing.append(challenger)
        return missing

    def _standing(self, program: int) -> Standing:
        evidence = self.evidence
        missed, value = evidence.figures.violation(program), evidence.values[program]
        if not self.rule.noisy:
            return Standing(value, certified=bool(evidence.certified[program]), violation=missed)
        error = evidence.error(program, self.rule.noise_floor)
        return Standing(value, evidence.judgings(program), error, violation=missed)

    def better(self, first: int, second: int) -> bool:
        """Returns whether the first program ranks before the second one."""
        return self.evidence.rank(first) < self.evidence.rank(second)

    def wants(self, program: int, what: int, cell: int = -1) -> None:
        """Puts something that depends on `program` into the queue."""
        self.queue.push(self.evidence.rank(program), program, what, cell)

    def refresh(self, incumbent: int) -> None:
        """Owes an incumbent a measurement: it beat a confirmed challenger, and the luck may have been its own."""
        if self.rule.noisy:
            self.queue.refreshes.add(incumbent)
            self.wants(incumbent, REFRESH)


class BestSoFar:
    """Best program so far. `holder` is the best program, `rival` the one that would win and waits for a measurement."""

    def __init__(self, confirmation: Confirmation, islands: Sequence[Island]) -> None:
        self.holder: int | None = None
        self.rival: int | None = None
        self._confirmation = confirmation
        self._evidence = confirmation.evidence
        self._islands = islands

    def challenge(self, program: int, *, confirmed: bool = False) -> Insertion:
        """Returns a program claims to be the best; IMPROVED says that it is. `confirmed`: it was just measured again."""
        if program == self.holder or not self._evidence.alive(program):
            return Insertion.NOT_ADDED
        verdict = self._confirmation.verdict(program, self.holder, title=True)
        if verdict is ContestVerdict.ACCEPT:
            self._crown(program)
            return Insertion.IMPROVED
        if verdict is ContestVerdict.PENDING:
            return self._wait(program)
        # Confirm and refresh: the challenger was measured again and lost, so the luck may be the incumbent's.
        if confirmed and self.holder is not None:
            self._confirmation.refresh(self.holder)
        if self.rival == program:
            self.rival = None
            self._call()
        return Insertion.NOT_ADDED

    def _wait(self, program: int) -> Insertion:
        if self.rival is not None and self.rival != program and not self._confirmation.better(program, self.rival):
            return Insertion.NOT_ADDED
        self.rival = program
        self._confirmation.wants(program, TITLE)
        return Insertion.PENDING

    def _crown(self, program: int) -> None:
        self._hold(program)
        former, self.rival = self.rival, None
        if former is not None and former != program:
            self.challenge(former)
        if self.rival is None:
            self._call()

    def _hold(self, program: int) -> None:
        self.holder = program
        self._evidence.forget_reported(program)

    def _call(self) -> None:
        """Lets the best elite of all islands challenge, where it is not the best already; while there is no best, every program counts."""
        # The first of each island alone: to look at every program would cost more with each record.
        firsts = [first for island in self._islands if (first := island.best()) is not None]
        strongest = min(firsts, key=lambda program: (self._evidence.rank(program), program), default=None)
        if self.holder is None and (strongest is None or not self._evidence.figures.feasible(strongest)):
            strongest = self._evidence.strongest_of_all(certified=False, judgings=0)
        if strongest is not None and strongest != self.holder:
            self.challenge(strongest)

    def defend(self) -> None:
        """Lets programs that may be better challenge the holder, of which something has changed."""
        if self.holder is not None and not self._evidence.figures.feasible(self.holder):
            self._fall()
        if self.rival is not None:
            self.challenge(self.rival)
        if self.rival is None:
            self._call()

    def expel(self, program: int) -> None:
        """Removes a program that may not be the best any more. The strongest one that needs no contest follows."""
        if self.rival == program:
            self.rival = None
        if self.holder == program:
            self._fall()
        self.defend()

    def _fall(self) -> None:
        rule, self.holder = self._confirmation.rule, None
        found = self._evidence.strongest_of_all(certified=rule.certifies, judgings=2 if rule.noisy else 0)
        if found is not None:
            self._hold(found)


# So many programs must have come after the best before it is measured for what is reported of it: one that is soon replaced needs no report.
RESTED = 20


class Contests:
    """The islands and the title of best. Programs are numbers of the evidence, islands are named by their number."""

    def __init__(self, evidence: Evidence, rule: ConfirmationRule, settings: ArchiveSettings) -> None:
        self.evidence = evidence
        self.islands = [Island() for _ in range(settings.islands)]
        self.confirmation = Confirmation(evidence, rule)
        self.best_so_far = BestSoFar(self.confirmation, self.islands)
        self.settled = 0
        self._settings = settings

    def enter(self, program: int, number: int, *, confirmed: bool = False) -> Insertion:
        """Returns a program claims a place in its cell on an island. `confirmed`: it was just measured again, so that its defeat sends
        a measurement to the incumbent."""
        island, cell = self.islands[number], self.evidence.cells[program]
        if program in island or not self.evidence.alive(program):
            return Insertion.NOT_ADDED
        holders = island.cells.get(cell, ())
        if len(holders) < self._settings.capacity:
            insertion = Insertion.IMPROVED if holders else Insertion.NEW
            self._give(program, number, cell)
            return insertion
        incumbent = island.weakest(cell)
        verdict = self.confirmation.verdict(program, incumbent)
        if verdict is ContestVerdict.ACCEPT:
            island.take(incumbent, cell)
            self._give(program, number, cell)
            return Insertion.IMPROVED
        if verdict is ContestVerdict.PENDING:
            return self._wait(program, number, cell)
        if island.waiting.get(cell) == program:
            del island.waiting[cell]
        if confirmed:
            self.confirmation.refresh(incumbent)
        return Insertion.NOT_ADDED

    def _give(self, program: int, number: int, cell: int) -> None:
        # Measurements that made it win are too good on average; what is reported begins with its first place, and a copy is no new win.
        if program != self.best_so_far.holder and not any(program in island for island in self.islands):
            self.evidence.forget_reported(program)
        island = self.islands[number]
        island.put(program, cell, self.evidence.rank(program))
        if island.waiting.get(cell) == program:
            del island.waiting[cell]
        self._again(number, cell)

    def _wait(self, program: int, number: int, cell: int) -> Insertion:
        waiting = self.islands[number].waiting
        known = waiting.get(cell)
        if known is not None and known != program and not self.confirmation.better(program, known):
            return Insertion.NOT_ADDED
        waiting[cell] = program
        self.confirmation.wants(program, number, cell)
        return Insertion.PENDING

    def _again(self, number: int, cell: int) -> None:
        """Lets the waiting challenger of a cell, if there is one, meet the weakest elite there."""
        challenger = self.islands[number].waiting.get(cell)
        if challenger is not None:
            self.enter(challenger, number)

    def settle_again(self, program: int) -> Insertion:
        """Returns a program's estimate, or what is in flight for it, has changed: every contest that it is a side of is settled anew.
        Where it is found to miss a constraint, the best remaining member of its cell is a challenger. Returns the most that it won."""
        cell, home = self.evidence.cells[program], self.evidence.homes[program]
        insertion = Insertion.NOT_ADDED
        for number, island in enumerate(self.islands):
            if program in island:
                before, now = island.take(program, cell), self.evidence.rank(program)
                island.put(program, cell, now)
                self._again(number, cell)
                if before[0] == 0.0 < now[0]:
                    self._refill(number, cell)
            elif island.waiting.get(cell) == program or (number == home and program >= island.since):
                insertion = max(insertion, self.enter(program, number, confirmed=True))
        if program in self.confirmation.queue.refreshes:
            self.confirmation.wants(program, REFRESH)
        if program == self.best_so_far.holder:
            self.best_so_far.defend()
            return insertion
        return max(insertion, self.best_so_far.challenge(program, confirmed=self.best_so_far.rival == program))

    def waits(self, program: int) -> bool:
        """Returns whether a program waits for a place or the title."""
        cell = self.evidence.cells[program]
        return program == self.best_so_far.rival or any(island.waiting.get(cell) == program for island in self.islands)

    def expel(self, program: int) -> None:
        """Removes a program from all places; the best remaining member of each cell follows."""
        cell = self.evidence.cells[program]
        for number, island in enumerate(self.islands):
            held, waited = program in island, island.waiting.get(cell) == program
            if held:
                island.take(program, cell)
            if waited:
                del island.waiting[cell]
            if held or waited:
                self._refill(number, cell)
        self.best_so_far.expel(program)

    def _refill(self, number: int, cell: int) -> None:
        island = self.islands[number]
        holders = [holder for _, holder in island.cells.get(cell, ())]
        follower = self.evidence.strongest(island.members[cell], holders)
        if follower is not None:
            self.enter(follower, number)

    def readmit(self, program: int) -> None:
        """Lets a program claim a place again on every island that it belongs to."""
        cell = self.evidence.cells[program]
        for number, island in enumerate(self.islands):
            if program in island.members.get(cell, ()):
                self.enter(program, number)
        self.best_so_far.challenge(program)

    def count_proposal(self, number: int) -> bool:
        """Counts a settled proposal of an island; returns whether programs moved between islands, which happens by counts alone: a replay repeats it."""
        settings = self._settings
        self.settled += 1
        island = self.islands[number]
        island.settled += 1
        migrates = settings.migrate_every and settings.islands > 1 and island.settled % settings.migrate_every == 0
        if migrates:
            for _, program in island.ranking[: settings.migrants]:
                self._settle_on(program, (number + 1) % settings.islands)
        resets = settings.reset_every and self.settled % (settings.reset_every * settings.islands) == 0
        if resets:
            self._reset()
        return bool(migrates or resets)

    def _reset(self) -> None:
        """Clears the worse half of the islands, by their best program; each restarts from the best program of one of the others."""
        islands = self.islands
        order = sorted(range(len(islands)), key=lambda number: islands[number].ranking[:1] or [((math.inf, 0.0), 0)])
        # Of an odd number the one in the middle stays; ties fall to the lower number, for a replay must clear the same islands.
        kept = len(order) - len(order) // 2
        founders = [islands[number].best() for number in order[:kept]]
        for turn, number in enumerate(order[kept:]):
            islands[number].clear(since=len(self.evidence))
            founder = founders[turn % kept]
            if founder is not None:
                self._settle_on(founder, number)

    def _settle_on(self, program: int, number: int) -> None:
        """Lets a program claim a place on an island that is not its own, under the same rule as any other."""
        if program not in self.islands[number]:
            self.islands[number].join(program, self.evidence.cells[program])
            self.enter(program, number)

    def rule_changed(self, rule: ConfirmationRule) -> None:
        """Another machine: estimates may be others, and every contest that waits is settled anew."""
        self.confirmation.rule = rule
        rank, cells = self.evidence.rank, self.evidence.cells
        for number, island in enumerate(self.islands):
            for program in list(island.places):
                island.take(program, cells[program])
                island.put(program, cells[program], rank(program))
            for cell in list(island.waiting):
                self._again(number, cell)
        self.best_so_far.defend()
        for program in self.confirmation.queue.refreshes:
            self.confirmation.wants(program, REFRESH)

    def due(self, *, best_only: bool) -> tuple[int, str] | None:
        """Returns the program to measure next, and why; nothing that is in flight. What is about the best comes first."""
        found = self.confirmation.queue.next(self._needs)
        if found is None or found[0].island != TITLE:
            unreported = self._find_unreported(0 if best_only else RESTED)
            if unreported is not None:
                return unreported, "report"
            if found is None or best_only:
                return None
        entry, program = found
        if entry.island == REFRESH:
            return program, "refresh"
        return program, "challenger" if program == entry.program else "incumbent"

    def _find_unreported(self, rested: int) -> int | None:
        """Returns the best, where nothing can be reported of it yet and so many programs have come after it."""
        holder, queue = self.best_so_far.holder, self.confirmation.queue
        if holder is None or not self.confirmation.rule.noisy or holder in self.evidence.reported:
            return None
        waits = holder in queue.in_flight or queue.is_given_up(holder) or len(self.evidence) - 1 - holder < rested
        return None if waits else holder

    def _needs(self, entry: QueueEntry) -> Sequence[int]:
        """Returns the programs to measure for an entry of the queue; none where it counts no more."""
        program = entry.program
        if entry.rank != self.evidence.rank(program):
            return ()
        if entry.island == TITLE:
            return (
                self.confirmation.lacking(program, self.best_so_far.holder) if program == self.best_so_far.rival else ()
            )
        if entry.island == REFRESH:
            return (program,) if program in self.confirmation.queue.refreshes else ()
        island = self.islands[entry.island]
        waits = island.waiting.get(entry.cell) == program
        return self.confirmation.lacking(program, island.weakest(entry.cell)) if waits else ()

    def state(self) -> dict[str, Any]:
        """Returns everything as plain data."""
        return {
            "islands": [island.state() for island in self.islands],
            "best": self.best_so_far.holder,
            "rival": self.best_so_far.rival,
            "agenda": self.confirmation.queue.state(),
        }
