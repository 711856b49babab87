"""A program that tries one trick on a task's judge, and what must become of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evolve.types import Outcome


@dataclass(frozen=True, slots=True)
class Cheat:
    """`trick` says in a few words what it tries, `rule` which defence must catch it. `files` replace those of the task's seed. It must end in one of `outcomes`; where that is OK it has profited
    nothing: its fitness (larger is better) is at most `at_most`. `quarantined`: a ruling with a tag must follow. `strict`: what must catch it is there at that level alone. `twin`: the honest program that looks most like it and must be OK; empty: the seed."""

    task: str
    name: str
    trick: str
    rule: str
    files: Mapping[str, str]
    outcomes: frozenset[Outcome] = frozenset({Outcome.INVALID, Outcome.WRONG})
    at_most: float | None = None
    quarantined: bool = False
    strict: bool = False
    twin: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, bool | int | float | str] = field(default_factory=dict)
