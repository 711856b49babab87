"""`--set task.n=32` where no campaign is: a parameter of a task.

Invariant: written as for `evolve run`; whatever else could be set there is refused."""

from collections.abc import Iterable

from evolve.assignments import parse_assignment
from evolve.types import ConfigError, Scalar


def parameters(assignments: Iterable[str]) -> dict[str, Scalar]:
    """The parameters that are set, the later ones winning; raises `ConfigError`."""
    found: dict[str, Scalar] = {}
    for assignment in assignments:
        path, value = parse_assignment(assignment)
        if path[0] != "task" or len(path) != 2:
            raise ConfigError(
                f"without a campaign only parameters of the task can be set, got {assignment!r}. Do: --set task.KEY=VALUE"
            )
        if not isinstance(value, bool | int | float | str):
            raise ConfigError(f"a parameter is a number, a text or true/false, got {assignment!r}. Do: write one")
        found[path[1]] = value
    return found
