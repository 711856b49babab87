"""The executor `local`, registered as a third party would register its own."""

from collections.abc import Sequence

from evolve.evaluation import LocalExecutor
from evolve.hookspecs import ExecutorEntry, ExecutorRequest, Settings, hookimpl
from evolve.protocols import Executor


def _local(settings: Settings, request: ExecutorRequest) -> Executor:
    return LocalExecutor(
        request.task, request.slots, means=request.means, hidden=request.hidden, devices=request.devices
    )


@hookimpl
def register_executors() -> Sequence[ExecutorEntry]:
    """Provides `local`: one worker process per slot, on this machine."""
    return (ExecutorEntry("local", _local),)
