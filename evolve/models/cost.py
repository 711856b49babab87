"""What a call of a model takes from a budget, as one value: for what it has used, and for what it may use at most.

Invariant: costs are added and never taken away; no part of one is negative."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from evolve.types import Progress


@dataclass(frozen=True, slots=True)
class Cost:
    """`tokens` are those of prompts and answers together; `money` is in US dollars."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0

    def plus(self, other: "Cost") -> "Cost":
        """Both together."""
        return Cost(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.money + other.money,
            self.gpu_seconds + other.gpu_seconds,
        )

    def times(self, count: int) -> "Cost":
        """So many of it."""
        return Cost(self.calls * count, self.tokens * count, self.money * count, self.gpu_seconds * count)

    def after(self, progress: Progress) -> Progress:
        """What is spent when this is spent too."""
        return replace(
            progress,
            calls=progress.calls + self.calls,
            tokens=progress.tokens + self.tokens,
            money=progress.money + self.money,
            gpu_seconds=progress.gpu_seconds + self.gpu_seconds,
        )


def total(costs: Iterable[Cost]) -> Cost:
    """All of them together."""
    found = tuple(costs)
    return Cost(
        sum(cost.calls for cost in found),
        sum(cost.tokens for cost in found),
        sum(cost.money for cost in found),
        sum(cost.gpu_seconds for cost in found),
    )
