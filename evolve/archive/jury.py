"""The rule of confirmation, applied to two programs, and what it asks to be measured.

Invariant: it changes the agenda alone, never who holds a place."""

from evolve.archive.agenda import REFRESH, Agenda
from evolve.archive.confirmation import Rule, Standing, Verdict, decide, lacks
from evolve.archive.evidence import Evidence


class Jury:
    """Knows the evidence, the rule of this task on this machine, and the agenda. Programs are numbers of the evidence."""

    def __init__(self, evidence: Evidence, rule: Rule) -> None:
        self.evidence = evidence
        self.rule = rule
        self.agenda = Agenda()

    def verdict(self, challenger: int, incumbent: int | None, *, title: bool = False) -> Verdict:
        """What becomes of a challenger; rejected where a side that must be measured cannot be."""
        other = None if incumbent is None else self._standing(incumbent)
        verdict = decide(self.rule, self._standing(challenger), other, title=title)
        if verdict is Verdict.PENDING and any(map(self.agenda.given_up, self.lacking(challenger, incumbent))):
            return Verdict.REJECT
        return verdict

    def lacking(self, challenger: int, incumbent: int | None) -> list[int]:
        """Who must be measured before there can be a verdict, the incumbent first; in a noisy task alone, for the challenger
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
        """Whether the first program ranks before the second one."""
        return self.evidence.rank(first) < self.evidence.rank(second)

    def wants(self, program: int, what: int, cell: int = -1) -> None:
        """Puts something that hangs on `program` on the agenda."""
        self.agenda.push(self.evidence.rank(program), program, what, cell)

    def refresh(self, incumbent: int) -> None:
        """A confirmed challenger failed: the luck may have been the incumbent's, which is owed a measurement."""
        if self.rule.noisy:
            self.agenda.refreshes.add(incumbent)
            self.wants(incumbent, REFRESH)
