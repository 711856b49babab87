"""Refused proposals in a row, and how seldom operators are asked that were refused again and again.

A fold over the log, so that a run that goes on asks as one that never stopped would."""

from dataclasses import dataclass

from evolve.types import Outcome, Record

NOTHING_NEW = 500
"""Refused proposals in a row after which an operator that was refused itself is asked no more."""
TIRED = 8
"""Refusals of one operator in a row from which on it is asked seldom; each so many more halve how often."""
_HOPELESS = 4 * TIRED
"""Refusals of one operator in a row after which other programs in the archive do not bring it another chance at once."""
_MOST_HALVINGS = 8


@dataclass(slots=True)
class Refused:
    """An operator that was refused `count` times in a row, for the last time because of the text `why`; `step` asked it last, 0: none since the archive has changed."""

    count: int = 0
    step: int = 0
    why: str = ""


class Refusals:
    """Proposals in a row that were refused before they were evaluated. Of an operator those count that called no model: what a model is asked for it
    pays, and its next answer may be another one."""

    def __init__(self) -> None:
        self._operators: dict[str, Refused] = {}
        self.unheard = 0
        """Refusals in a row, of all operators, for which no model was called."""
        self.heard = 0
        """And for which one was."""
        self.why = ""
        """The text that says why the last proposal was refused."""

    def ask(self, operator: str, step: int) -> None:
        """A step asks an operator."""
        if operator in self._operators:
            self._operators[operator].step = step

    def settle(self, record: Record, *, called: bool) -> None:
        """A proposal has settled; its step `called` a model."""
        operator = record.origin.operator
        if record.evaluation.outcome is not Outcome.SCREENED:
            self.unheard = self.heard = 0
        if record.evaluation.outcome is not Outcome.SCREENED or called:
            self._operators.pop(operator, None)
        if record.evaluation.outcome is Outcome.SCREENED:
            self._refuse(record, called=called)

    def _refuse(self, record: Record, *, called: bool) -> None:
        self.why = record.evaluation.feedback
        if called:
            self.heard += 1
            return
        self.unheard += 1
        refused = self._operators.setdefault(record.origin.operator, Refused(step=record.origin.step))
        refused.count, refused.why = refused.count + 1, self.why

    def renew(self) -> None:
        """The archive has changed: each may be asked once more at once, unless it was refused too often. In a campaign that improves all the time
        an operator without work would be asked all the time."""
        for refused in self._operators.values():
            if refused.count < _HOPELESS or self.unheard >= NOTHING_NEW:
                refused.step = 0

    def count(self, operator: str) -> int:
        """Returns how often in a row an operator was refused."""
        return self._operators[operator].count if operator in self._operators else 0

    def list_tired(self) -> dict[str, str]:
        """Returns the operators that are asked seldom, each with the text that says why."""
        return {name: refused.why for name, refused in self._operators.items() if refused.count >= TIRED}

    def rests(self, operator: str, step: int) -> bool:
        """Returns whether an operator is not asked by this step."""
        refused = self._operators.get(operator)
        if refused is None or refused.count < TIRED or not refused.step:
            return False
        # Each eight further refusals halve how often it is asked, so that it costs the log ever less.
        return self.unheard >= NOTHING_NEW or step - refused.step < 2 ** min(refused.count // TIRED, _MOST_HALVINGS)
