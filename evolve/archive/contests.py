"""Places and who holds them: every cell of every island, contested under the rule of confirmation.

Invariant: a place in a cell changes hands here alone; a cell has at most one challenger that waits, so what waits is bounded by
what there is to win. A contest that waits is settled anew whenever one of its two sides was measured."""

from collections.abc import Sequence
from typing import Any

from evolve.archive.agenda import REFRESH, TITLE, Entry
from evolve.archive.confirmation import Rule, Verdict
from evolve.archive.evidence import Evidence
from evolve.archive.island import Island
from evolve.archive.jury import Jury
from evolve.archive.title import Title
from evolve.types import Insertion

# So many programs must have come after the best before it is measured for what is reported of it: one that is soon replaced needs no report.
RESTED = 20


class Contests:
    """The islands and the title of best. Programs are numbers of the evidence, islands are named by their number."""

    def __init__(self, evidence: Evidence, rule: Rule, islands: int, capacity: int) -> None:
        self.evidence = evidence
        self.islands = [Island() for _ in range(islands)]
        self.jury = Jury(evidence, rule)
        self.title = Title(self.jury, self.islands)
        self._capacity = capacity

    def enter(self, program: int, number: int, *, confirmed: bool = False) -> Insertion:
        """A program claims a place in its cell on an island. `confirmed`: it was just measured again, so that its defeat sends
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
        verdict = self.jury.verdict(program, incumbent)
        if verdict is Verdict.ACCEPT:
            island.take(incumbent, cell)
            self._give(program, number, cell)
            return Insertion.IMPROVED
        if verdict is Verdict.PENDING:
            return self._wait(program, number, cell)
        if island.waiting.get(cell) == program:
            del island.waiting[cell]
        if confirmed:
            self.jury.refresh(incumbent)
        return Insertion.NOT_ADDED

    def _give(self, program: int, number: int, cell: int) -> None:
        if program != self.title.holder and not any(program in island for island in self.islands):
            self.evidence.won(program)
        island = self.islands[number]
        island.put(program, cell, self.evidence.rank(program))
        if island.waiting.get(cell) == program:
            del island.waiting[cell]
        self._again(number, cell)

    def _wait(self, program: int, number: int, cell: int) -> Insertion:
        waiting = self.islands[number].waiting
        known = waiting.get(cell)
        if known is not None and known != program and not self.jury.better(program, known):
            return Insertion.NOT_ADDED
        waiting[cell] = program
        self.jury.wants(program, number, cell)
        return Insertion.PENDING

    def _again(self, number: int, cell: int) -> None:
        """The waiting challenger of a cell, if there is one, meets whoever is the weakest there now."""
        challenger = self.islands[number].waiting.get(cell)
        if challenger is not None:
            self.enter(challenger, number)

    def measured(self, program: int) -> Insertion:
        """A program's estimate, or what is in flight for it, has changed: every contest that it is a side of is settled anew.
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
        if program in self.jury.agenda.refreshes:
            self.jury.wants(program, REFRESH)
        if program == self.title.holder:
            self.title.defend()
            return insertion
        return max(insertion, self.title.challenge(program, confirmed=self.title.rival == program))

    def waits(self, program: int) -> bool:
        """Whether a program waits for a place or the title."""
        cell = self.evidence.cells[program]
        return program == self.title.rival or any(island.waiting.get(cell) == program for island in self.islands)

    def expel(self, program: int) -> None:
        """A program that may hold no place any more leaves all of them; the best remaining member of each cell follows."""
        cell = self.evidence.cells[program]
        for number, island in enumerate(self.islands):
            held, waited = program in island, island.waiting.get(cell) == program
            if held:
                island.take(program, cell)
            if waited:
                del island.waiting[cell]
            if held or waited:
                self._refill(number, cell)
        self.title.expel(program)

    def _refill(self, number: int, cell: int) -> None:
        island = self.islands[number]
        holders = [holder for _, holder in island.cells.get(cell, ())]
        follower = self.evidence.strongest(island.members[cell], holders)
        if follower is not None:
            self.enter(follower, number)

    def readmit(self, program: int) -> None:
        """A program may hold places again: it claims one on every island that it belongs to."""
        cell = self.evidence.cells[program]
        for number, island in enumerate(self.islands):
            if program in island.members.get(cell, ()):
                self.enter(program, number)
        self.title.challenge(program)

    def clear(self, number: int) -> None:
        """Nobody belongs to an island any more."""
        self.islands[number].clear(since=len(self.evidence))

    def rule_changed(self, rule: Rule) -> None:
        """Another machine: estimates may be others, and every contest that waits is settled anew."""
        self.jury.rule = rule
        rank, cells = self.evidence.rank, self.evidence.cells
        for number, island in enumerate(self.islands):
            for program in list(island.places):
                island.take(program, cells[program])
                island.put(program, cells[program], rank(program))
            for cell in list(island.waiting):
                self._again(number, cell)
        self.title.defend()
        for program in self.jury.agenda.refreshes:
            self.jury.wants(program, REFRESH)

    def due(self, *, best_only: bool) -> tuple[int, str] | None:
        """The program to measure next, and why; nothing that is in flight. What is about the best comes first."""
        found = self.jury.agenda.next(self._needs)
        if found is None or found[0].island != TITLE:
            unreported = self._unreported(0 if best_only else RESTED)
            if unreported is not None:
                return unreported, "report"
            if found is None or best_only:
                return None
        entry, program = found
        if entry.island == REFRESH:
            return program, "refresh"
        return program, "challenger" if program == entry.program else "incumbent"

    def _unreported(self, rested: int) -> int | None:
        """The best, where nothing can be reported of it yet and so many programs have come after it."""
        holder, agenda = self.title.holder, self.jury.agenda
        if holder is None or not self.jury.rule.noisy or holder in self.evidence.reported:
            return None
        waits = holder in agenda.in_flight or agenda.given_up(holder) or len(self.evidence) - 1 - holder < rested
        return None if waits else holder

    def _needs(self, entry: Entry) -> Sequence[int]:
        """Who must be measured for an entry of the agenda; nobody where it counts no more."""
        program = entry.program
        if entry.rank != self.evidence.rank(program):
            return ()
        if entry.island == TITLE:
            return self.jury.lacking(program, self.title.holder) if program == self.title.rival else ()
        if entry.island == REFRESH:
            return (program,) if program in self.jury.agenda.refreshes else ()
        island = self.islands[entry.island]
        waits = island.waiting.get(entry.cell) == program
        return self.jury.lacking(program, island.weakest(entry.cell)) if waits else ()

    def state(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "islands": [island.state() for island in self.islands],
            "best": self.title.holder,
            "rival": self.title.rival,
            "agenda": self.jury.agenda.state(),
        }
