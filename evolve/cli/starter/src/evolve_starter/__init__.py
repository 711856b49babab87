"""The plugin `starter` for evolve, which imports this module by its entry point and calls the hooks that it finds here.

The operator `starter` swaps two numbers of a program. `operators.names` may hold it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolve import Child, Program, Selection, hookimpl
from evolve.hookspecs import OperatorEntry
from evolve.protocols import Context
from evolve.types import EditError
from pydantic import BaseModel, ConfigDict, Field

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


class SwapSettings(BaseModel):
    """Settings: `--set operators.settings.starter.suffix=.py`. A key that is not here is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suffix: str = Field(default="", description="the end of the names of files that are changed")


class Swap:
    """Swaps two numbers of the first parent. It learns nothing from the campaign, so that a baseline may use it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._suffix = SwapSettings(**settings).suffix

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        """Returns one child. All randomness is that of `context.rng`, so that the same step proposes the same again."""
        parent = context.history.program_id(selection.parents[0])
        assert parent is not None, "a parent is a program"
        files = dict(context.history.program(parent).files)
        places = [
            (path, found)
            for path in sorted(files)
            if path.endswith(self._suffix)
            for found in NUMBER.finditer(files[path])
        ]
        if len({found[0] for _, found in places}) < 2:
            raise EditError("there are no two different numbers to swap")
        first = places[int(context.rng.integers(len(places)))]
        others = [place for place in places if place[1][0] != first[1][0]]
        second = others[int(context.rng.integers(len(others)))]
        # The later place first, so that the earlier one stays where it is.
        for (path, found), (_, other) in sorted(
            ((first, second), (second, first)), key=lambda pair: -pair[0][1].start()
        ):
            files[path] = files[path][: found.start()] + other[0] + files[path][found.end() :]
        return [Child(Program(files), thought=f"swapped {first[1][0]} and {second[1][0]}")]


@hookimpl
def register_operators() -> Sequence[OperatorEntry]:
    """Returns the name, the factory that makes the operator from its settings, and their model."""
    return [OperatorEntry("starter", Swap, SwapSettings, history_free=True)]
