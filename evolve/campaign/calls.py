"""Calls of models, as a fold over the log: totals by operator, model, purpose and step; failures; the samples of each prompt."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, filterfalse

from evolve.types import Asked, Propose, Replied


@dataclass(frozen=True, slots=True)
class ModelFailures:
    """Calls of a model for whatever purpose, and how many of them failed; `error` is the reason of the last one. Those that were given up
    because the run ended have not failed."""

    model: str
    calls: int
    failed: int
    error: str


class Samples:
    """Numbers of the calls of each request, by its digest. Main thread, but for `free`."""

    def __init__(self) -> None:
        self._called: dict[str, list[int]] = {}

    def add(self, request: str, sample: int) -> None:
        """Takes the number of a call that the log has."""
        self._called.setdefault(request, []).append(sample)

    def free(self, request: str) -> Iterator[int]:
        """Yields the numbers that no call has, the smallest first: a number whose run ended before its call is used again."""
        return filterfalse(frozenset(self._called.get(request, ())).__contains__, count())


@dataclass(slots=True)
class CallTotals:
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

    def add(self, other: "CallTotals") -> None:
        """Adds the totals of more calls."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Calls:
    """Fold over a campaign's calls. Calls before any step have the operator "" and step 0."""

    def __init__(self) -> None:
        self.samples = Samples()
        self.retries: dict[str, Counter[str]] = {}
        """Requests that failed, by the names of their models and their causes; most were made again."""
        self._totals: dict[tuple[str, str, str], CallTotals] = defaultdict(CallTotals)
        self._steps: dict[int, CallTotals] = defaultdict(CallTotals)
        self._operators: dict[int, str] = {}
        self._errors: dict[str, str] = {}

    def begin(self, event: Asked) -> None:
        """Notes the operator of a step."""
        if isinstance(event.action, Propose):
            self._operators[event.step] = event.action.selection.operator

    def end(self, step: int) -> None:
        """Forgets the operator of a step, of which no more calls come."""
        self._operators.pop(step, None)

    def add(self, event: Replied) -> None:
        """Counts a call."""
        call = event.call
        self.samples.add(call.request, call.sample)
        # A call that was given up when a run ended has a negative index: it has neither been answered nor failed.
        failed = event.index >= 0 and bool(call.error)
        if failed:
            self._errors[call.model] = call.error
        if event.index >= 0 and call.retries:
            self.retries.setdefault(call.model, Counter()).update(call.retries)
        one = CallTotals(
            1,
            failed,
            call.prompt_tokens,
            call.completion_tokens,
            call.cached_tokens,
            call.cost,
            call.gpu_seconds,
            call.seconds,
            call.exact,
        )
        self._totals[self._operators.get(event.step, ""), call.model, call.purpose].add(one)
        self._steps[event.step].add(one)

    def of_steps(self, steps: Iterable[int]) -> CallTotals:
        """Returns the totals of the calls of these steps together."""
        total = CallTotals()
        for step in steps:
            total.add(self._steps.get(step, CallTotals()))
        return total

    def totals(self) -> Iterator[tuple[str, str, str, CallTotals]]:
        """Yields operator, model, purpose, and the totals of the calls with these."""
        for (operator, model, purpose), totals in self._totals.items():
            yield operator, model, purpose, totals

    def failures(self) -> tuple[ModelFailures, ...]:
        """Returns a line per model that failed, the one that failed most often first."""
        models: dict[str, CallTotals] = defaultdict(CallTotals)
        for _, model, _, totals in self.totals():
            models[model].add(totals)
        lines = [
            ModelFailures(name, models[name].calls, models[name].failed, self._errors[name]) for name in self._errors
        ]
        return tuple(sorted(lines, key=lambda line: -line.failed))

    @property
    def failed(self) -> int:
        """Failed calls of all models."""
        return sum(totals.failed for totals in self._totals.values())

    @property
    def failed_requests(self) -> int:
        """Requests that failed, of all models."""
        return sum(causes.total() for causes in self.retries.values())
