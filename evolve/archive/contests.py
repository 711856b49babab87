"""Places and who holds them: the best of all, and every cell of every island, contested under the rule of confirmation.

A place in a cell changes hands here alone; a cell has at most one challenger that waits, so what waits is bounded by what there is to win. A
contest that waits is settled anew whenever one of its two sides was measured. The best is never quarantined, never misses a constraint, nor
is it pending against the best before it. Programs come to other islands without randomness; a copy is a role, so that its record, its cell and
its estimate stay the same."""

import math
from collections.abc import Sequence
from typing import Any

from evolve.archive.confirmation import REFRESH, TITLE, Confirmation, ConfirmationRule, ContestVerdict, QueueEntry
from evolve.archive.evidence import Evidence
from evolve.archive.island import Island
from evolve.types import Insertion


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

    def __init__(self, evidence: Evidence, rule: ConfirmationRule, islands: int, capacity: int) -> None:
        self.evidence = evidence
        self.islands = [Island() for _ in range(islands)]
        self.confirmation = Confirmation(evidence, rule)
        self.best_so_far = BestSoFar(self.confirmation, self.islands)
        self._capacity = capacity

    def enter(self, program: int, number: int, *, confirmed: bool = False) -> Insertion:
        """Returns a program claims a place in its cell on an island. `confirmed`: it was just measured again, so that its defeat sends
        a measurement to the incumbent."""
        island, cell = self.islands[number], self.evidence.cells[program]
        if program in island or not self.evidence.alive(program):
            return Insertion.NOT_ADDED
        holders = island.cells.get(cell, ())
        if len(holders) < self._capacity:
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

    def clear(self, number: int) -> None:
        """Nobody belongs to an island any more."""
        self.islands[number].clear(since=len(self.evidence))

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


def migrate(contests: Contests, number: int, migrants: int) -> None:
    """Lets the best elites of island `number` claim places on the next one of the ring, under the same rule as any program."""
    following = (number + 1) % len(contests.islands)
    for _, program in contests.islands[number].ranking[:migrants]:
        _settle_on(contests, program, following)


def reset(contests: Contests) -> None:
    """Clears the worse half of the islands, by their best program; each restarts from the best program of one of the others."""
    islands = contests.islands
    order = sorted(range(len(islands)), key=lambda number: islands[number].ranking[:1] or [((math.inf, 0.0), 0)])
    kept = len(order) - len(order) // 2
    founders = [islands[number].best() for number in order[:kept]]
    for turn, number in enumerate(order[kept:]):
        contests.clear(number)
        founder = founders[turn % kept]
        if founder is not None:
            _settle_on(contests, founder, number)


def _settle_on(contests: Contests, program: int, number: int) -> None:
    if program not in contests.islands[number]:
        contests.islands[number].join(program, contests.evidence.cells[program])
        contests.enter(program, number)
