"""What calls of models have taken, kept while the log grows: by operator, model and purpose, and by step.

Invariant: each call is counted once, the failed ones too; one more costs the same however many there were."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evolve.campaign.failures import has_failed
from evolve.types import Asked, Propose, Replied


@dataclass(slots=True)
class Taken:
    """Sums over calls. `cached_tokens` are among the `prompt_tokens`; `exact` counts the calls whose tokens the server has counted; those
    that were given up when a run ended have not `failed`; `seconds` are those of all calls one after another; `money` is in US dollars."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0
    seconds: float = 0.0
    exact: int = 0

    def add(self, other: "Taken") -> None:
        """More calls."""
        self.calls += other.calls
        self.failed += other.failed
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.cached_tokens += other.cached_tokens
        self.money += other.money
        self.gpu_seconds += other.gpu_seconds
        self.seconds += other.seconds
        self.exact += other.exact


_WIDTH = 9
"""Fields of `Taken`."""


def _row(taken: Taken) -> tuple[float, ...]:
    return (
        taken.calls,
        taken.failed,
        taken.prompt_tokens,
        taken.completion_tokens,
        taken.cached_tokens,
        taken.money,
        taken.gpu_seconds,
        taken.seconds,
        taken.exact,
    )


class Called:
    """The sums. Calls before any step have the operator ""."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str], Taken] = {}
        self._operators: dict[int, str] = {}
        self._places: dict[int, int] = {}
        self._steps = array("d")
        """A row for each step that called, as the fields of `Taken` are ordered."""

    def asked(self, event: Asked) -> None:
        """Calls of this step are those of its operator."""
        if isinstance(event.action, Propose):
            self._operators[event.step] = event.action.selection.operator

    def ended(self, step: int) -> None:
        """No more calls come of this step."""
        self._operators.pop(step, None)

    def add(self, event: Replied) -> None:
        """Counts a call."""
        call = event.call
        taken = Taken(
            1,
            has_failed(event),
            call.prompt_tokens,
            call.completion_tokens,
            call.cached_tokens,
            call.cost,
            call.gpu_seconds,
            call.seconds,
            call.exact,
        )
        key = (self._operators.get(event.step, ""), call.model, call.purpose)
        self._sums.setdefault(key, Taken()).add(taken)
        start = self._places.setdefault(event.step, len(self._steps))
        if start == len(self._steps):
            self._steps.extend([0.0] * _WIDTH)
        for place, value in enumerate(_row(taken), start):
            self._steps[place] += value

    def of_step(self, step: int) -> Taken:
        """What the calls of one step have taken; those before any step are step 0."""
        start = self._places.get(step)
        if start is None:
            return Taken()
        calls, failed, prompt, completion, cached, money, gpu_seconds, seconds, exact = self._steps[
            start : start + _WIDTH
        ]
        return Taken(
            int(calls), int(failed), int(prompt), int(completion), int(cached), money, gpu_seconds, seconds, int(exact)
        )

    def of_steps(self, steps: Iterable[int]) -> Taken:
        """What the calls of these steps have taken together."""
        total = Taken()
        for step in steps:
            total.add(self.of_step(step))
        return total

    def sums(self) -> Iterator[tuple[str, str, str, Taken]]:
        """Operator, model, purpose, and what the calls with these have taken."""
        for (operator, model, purpose), taken in self._sums.items():
            yield operator, model, purpose, taken
