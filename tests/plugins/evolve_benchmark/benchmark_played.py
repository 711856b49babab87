"""A candidate and an anchor whose times are played: no process, no clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from evolve.types import Program


@dataclass(frozen=True)
class Took:
    """As `evolve.Timed`."""

    value: Any
    cpu: float
    wall: float = 0.5
    outside: float = 1e-4


class Racer:
    """Answers by `solve`; `times(number of the call in its process, arguments)` says what a call took. `calls` has the arguments of all processes; `turns` is shared with the other one."""

    def __init__(self, solve: Callable[..., Any], times: Callable[..., Took], turns: list[str], name: str) -> None:
        self.program = Program({"seed.py": "x" * 64})
        self.calls: list[list[tuple[Any, ...]]] = []
        self.limits: list[float | None] = []
        self.rival: Racer | None = None
        self._solve, self._times, self._turns, self._name = solve, times, turns, name

    def beside(self, program: Program) -> "Racer":
        assert self.rival is not None
        self.rival.program = program
        return self.rival

    @contextmanager
    def session(self, *, timed: bool) -> Iterator["Racer"]:
        assert timed
        self.calls.append([])
        yield self

    def timed(self, function: str, /, *arguments: Any, seconds: float | None = None) -> Took:
        assert function == "solve"
        self._turns.append(self._name)
        self.limits.append(seconds)
        self.calls[-1].append(arguments)
        took = self._times(len(self.calls[-1]), *arguments)
        return Took(self._solve(*arguments), took.cpu, took.wall, took.outside)


def racers(
    mine: Callable[..., Took], theirs: Callable[..., Took], solve: Callable[..., Any], honest: Callable[..., Any]
) -> tuple[Racer, list[str]]:
    """A candidate with its anchor beside it, and the turns that both took."""
    turns: list[str] = []
    candidate = Racer(solve, mine, turns, "candidate")
    candidate.rival = Racer(honest, theirs, turns, "anchor")
    return candidate, turns
