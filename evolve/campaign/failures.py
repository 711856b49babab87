"""How often models failed, and why at last.

Invariant: one more call costs the same however many there were."""

from collections import Counter
from dataclasses import dataclass

from evolve.types import Replied


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


class Failures:
    """The failed calls of a campaign, by its models."""

    def __init__(self) -> None:
        self._calls = Counter[str]()
        self._failed = Counter[str]()
        self._errors: dict[str, str] = {}
        self.retries: dict[str, Counter[str]] = {}
        """Requests that failed, by the names of their models and their causes; most were made again."""

    def add(self, event: Replied) -> None:
        """Counts a call; one that was given up is none."""
        if event.index < 0:
            return
        model = event.call.model
        self._calls[model] += 1
        if event.call.retries:
            self.retries.setdefault(model, Counter()).update(event.call.retries)
        if has_failed(event):
            self._failed[model] += 1
            self._errors[model] = event.call.error

    def lines(self) -> tuple[ModelFailures, ...]:
        """One line per model that failed, the one that failed most often first."""
        return tuple(
            ModelFailures(model, self._calls[model], failed, self._errors[model])
            for model, failed in self._failed.most_common()
        )

    @property
    def total(self) -> int:
        """Failed calls of all models."""
        return self._failed.total()

    @property
    def requests(self) -> int:
        """Requests that failed, of all models."""
        return sum(causes.total() for causes in self.retries.values())
