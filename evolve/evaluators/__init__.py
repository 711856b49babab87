"""The bundled evaluator `command` and the bundled executor `local`, registered as a third party would register its own; readers of saved files for the
`rescore` function of a task."""

from collections.abc import Sequence

from evolve.evaluation import LocalExecutor
from evolve.evaluators.command import Command, CommandSettings
from evolve.evaluators.saved import Unreadable, finite, read_array, read_json, read_numbers
from evolve.hookspecs import EvaluatorEntry, ExecutorEntry, ExecutorRequest, Settings, hookimpl
from evolve.protocols import Evaluator, Executor

__all__ = ["Unreadable", "finite", "read_array", "read_json", "read_numbers"]


def _command(settings: Settings) -> Evaluator:
    return Command(CommandSettings(**settings))


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """`command`: a script that says itself what it is worth, or leaves the files from which that is computed."""
    return (EvaluatorEntry("command", _command, CommandSettings),)


def _local(settings: Settings, request: ExecutorRequest) -> Executor:
    return LocalExecutor(
        request.task, request.slots, means=request.means, hidden=request.hidden, devices=request.devices
    )


@hookimpl
def register_executors() -> Sequence[ExecutorEntry]:
    """Provides `local`: one worker process per slot, on this machine."""
    return (ExecutorEntry("local", _local),)
