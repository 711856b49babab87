"""Calls of models, as a fold over the log: what they took by operator, model, purpose and step; how often models failed; which samples of a prompt there are.

Each call is counted once, and one more costs the same however many there were."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import chain, count
from typing import Any

from evolve.types import Asked, Propose, Replied


def has_failed(event: Replied) -> bool:
    """It ended without an answer, and not because the run did."""
    return event.index >= 0 and bool(event.call.error)


@dataclass(frozen=True, slots=True)
class ModelFailures:
    """Calls of a model, whatever they were for, and how many of them failed; `error` is why the last one did. Those that were given up because
    the run ended have not failed."""

    model: str
    calls: int
    failed: int
    error: str


class Samples:
    """Of each request, by its digest, the numbers of the calls that the log has. Main thread, but for `free`."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._missing: dict[str, set[int]] = {}

    def called(self, request: str, sample: int) -> None:
        """The log has a call with this number."""
        after = self._next.get(request, 0)
        if sample >= after:
            self._next[request] = sample + 1
            if sample > after:
                self._missing.setdefault(request, set()).update(range(after, sample))
        elif request in self._missing:
            self._missing[request].discard(sample)

    def free(self, request: str) -> Iterator[int]:
        """The numbers that no call has, the smallest first."""
        return chain(sorted(self._missing.get(request, ())), count(self._next.get(request, 0)))


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
        """Adds the sums over more calls."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


_KINDS: tuple[Any, ...] = tuple(type(field.default) for field in fields(Taken))
_WIDTH = len(_KINDS)


class Calls:
    """Fold over a campaign's calls. Calls before any step have the operator ""."""

    def __init__(self) -> None:
        self.samples = Samples()
        self._finished = Counter[str]()
        self._failed = Counter[str]()
        self._errors: dict[str, str] = {}
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
        """Counts a call. One that was given up when a run ended has neither been answered nor failed."""
        call = event.call
        self.samples.called(call.request, call.sample)
        if event.index >= 0:
            self._finished[call.model] += 1
        if has_failed(event):
            self._failed[call.model] += 1
            self._errors[call.model] = call.error
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
        for place, value in enumerate(astuple(taken), start):
            self._steps[place] += value

    def of_step(self, step: int) -> Taken:
        """What the calls of one step have taken; those before any step are step 0."""
        start = self._places.get(step)
        if start is None:
            return Taken()
        row = self._steps[start : start + _WIDTH]
        return Taken(*(kind(value) for kind, value in zip(_KINDS, row, strict=True)))

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

    def failures(self) -> tuple[ModelFailures, ...]:
        """Returns a line per model that failed, the one that failed most often first."""
        return tuple(
            ModelFailures(model, self._finished[model], failed, self._errors[model])
            for model, failed in self._failed.most_common()
        )

    @property
    def failed(self) -> int:
        """Failed calls of all models."""
        return self._failed.total()
