"""Who is the best of all: a place like that in a cell, but one that no island's history can take away.

Invariant: the holder is never quarantined, never misses a constraint, nor is it pending against the holder before it; at most one
rival waits."""

from collections.abc import Sequence

from evolve.archive.agenda import TITLE
from evolve.archive.confirmation import Verdict
from evolve.archive.island import Island
from evolve.archive.jury import Jury
from evolve.types import Insertion


class Title:
    """`holder` is the best program, `rival` the one that would win and waits for a measurement."""

    def __init__(self, jury: Jury, islands: Sequence[Island]) -> None:
        self.holder: int | None = None
        self.rival: int | None = None
        self._jury = jury
        self._evidence = jury.evidence
        self._islands = islands

    def challenge(self, program: int, *, confirmed: bool = False) -> Insertion:
        """A program claims to be the best; IMPROVED says that it is. `confirmed`: it was just measured again."""
        if program == self.holder or not self._evidence.alive(program):
            return Insertion.NOT_ADDED
        verdict = self._jury.verdict(program, self.holder, title=True)
        if verdict is Verdict.ACCEPT:
            self._crown(program)
            return Insertion.IMPROVED
        if verdict is Verdict.PENDING:
            return self._wait(program)
        if confirmed and self.holder is not None:
            self._jury.refresh(self.holder)
        if self.rival == program:
            self.rival = None
            self._call()
        return Insertion.NOT_ADDED

    def _wait(self, program: int) -> Insertion:
        if self.rival is not None and self.rival != program and not self._jury.better(program, self.rival):
            return Insertion.NOT_ADDED
        self.rival = program
        self._jury.wants(program, TITLE)
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
        self._evidence.won(program)

    def _call(self) -> None:
        """The best elite of all islands challenges, where it is not the best already; nobody may be left out while there is no best."""
        firsts = [first for island in self._islands if (first := island.best()) is not None]
        strongest = min(firsts, key=lambda program: (self._evidence.rank(program), program), default=None)
        if self.holder is None and (strongest is None or not self._evidence.figures.feasible(strongest)):
            strongest = self._evidence.strongest_of_all(certified=False, judgings=0)
        if strongest is not None and strongest != self.holder:
            self.challenge(strongest)

    def defend(self) -> None:
        """What is known of the holder, or who it is, has changed: whoever may be better challenges it."""
        if self.holder is not None and not self._evidence.figures.feasible(self.holder):
            self._fall()
        if self.rival is not None:
            self.challenge(self.rival)
        if self.rival is None:
            self._call()

    def expel(self, program: int) -> None:
        """A program may not be the best any more. The title falls to the strongest one that may hold it without a contest."""
        if self.rival == program:
            self.rival = None
        if self.holder == program:
            self._fall()
        self.defend()

    def _fall(self) -> None:
        rule, self.holder = self._jury.rule, None
        found = self._evidence.strongest_of_all(certified=rule.certifies, judgings=2 if rule.noisy else 0)
        if found is not None:
            self._hold(found)
