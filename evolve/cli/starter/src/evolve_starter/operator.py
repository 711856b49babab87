"""The operator `starter`: swaps numbers between two places of a program. `operators.names` may hold it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolve import Child, Program, Selection, hookimpl
from evolve.hookspecs import OperatorEntry
from evolve.protocols import Context
from evolve.types import EditError
from numpy.random import Generator
from pydantic import BaseModel, ConfigDict, Field

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


class SwapSettings(BaseModel):
    """Settings: `--set operators.settings.starter.swaps=2`. A key that is not here is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    swaps: int = Field(default=1, ge=1, le=100, description="how many times two numbers are swapped")


class Swap:
    """The first parent with numbers swapped. It learns nothing from the campaign, so that a baseline may use it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._swaps = SwapSettings(**settings).swaps

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """One child. All randomness is that of `context.rng`, so that the same step proposes the same again."""
        parent = context.history.program_id(selection.parents[0])
        assert parent is not None, "a parent is a program"
        program = context.history.program(parent)
        files = dict(program.files)
        for _ in range(self._swaps):
            _swap(files, context.rng)
        if files == program.files:
            raise EditError("the swaps undid each other")
        return [Child(Program(files), thought=f"swapped numbers {self._swaps} times")]


def _swap(files: dict[str, str], rng: Generator) -> None:
    """Swaps two numbers that are written differently; raises `EditError` where there are none."""
    places = [(path, found) for path, text in sorted(files.items()) for found in NUMBER.finditer(text)]
    if len({found[0] for _, found in places}) < 2:
        raise EditError("there are no two different numbers to swap")
    first = places[int(rng.integers(len(places)))]
    others = [place for place in places if place[1][0] != first[1][0]]
    second = others[int(rng.integers(len(others)))]
    # The later place first, so that the earlier one stays where it is.
    for (path, found), (_, other) in sorted(((first, second), (second, first)), key=lambda pair: -pair[0][1].start()):
        files[path] = files[path][: found.start()] + other[0] + files[path][found.end() :]


@hookimpl
def register_operators() -> Sequence[OperatorEntry]:
    """The name, what makes the operator from its settings, and their model."""
    return [OperatorEntry("starter", Swap, SwapSettings, history_free=True)]
