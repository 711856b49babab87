"""The bundled evaluators, registered as a third party would register its own, and what the `rescore` function of a task may read saved files with.

Invariant: the engine knows an evaluator by the name given here and by nothing else."""

from collections.abc import Sequence

from evolve.evaluators.command import Command, CommandSettings
from evolve.evaluators.saved import Unreadable, finite, read_array, read_json, read_numbers
from evolve.hookspecs import EvaluatorEntry, Settings, hookimpl
from evolve.protocols import Evaluator

__all__ = ["Unreadable", "finite", "read_array", "read_json", "read_numbers"]


def _command(settings: Settings) -> Evaluator:
    return Command(CommandSettings(**settings))


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """`command`: a script that says itself what it is worth, or leaves the files from which that is computed."""
    return (EvaluatorEntry("command", _command, CommandSettings),)
