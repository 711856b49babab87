"""The program of a judge process: loads a task's evaluator once, then turns jobs into reports until its engine ends.

It runs in the task's own Python, where there may be nothing but the standard library: what it imports needs no more, but for an
evaluator that a plugin brings. Invariant: the socket carries frames and nothing else; what an evaluator prints goes elsewhere."""

import gc
import importlib
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from evolve.evaluation.attempt import Raised, attempt
from evolve.evaluation.cascade import Bench, evaluate_job, prepare
from evolve.evaluation.children import die_with_parent
from evolve.evaluation.device_allocator import DeviceAllocator, Sandbox
from evolve.evaluation.evaluator import CodedEvaluator
from evolve.evaluation.framing import receive_frame, send_frame
from evolve.evaluation.job import (
    GOES_ON,
    WAITS,
    Charge,
    Description,
    decode_charge,
    decode_job,
    encode_description,
    encode_report,
)
from evolve.evaluation.machine import environment, hardware, imports
from evolve.evaluation.module import TaskCodeError, execute_file
from evolve.evaluation.version import check_version, deciding
from evolve.sandbox import Box, Devices
from evolve.sandbox.kernel import close_to_others
from evolve.types import ConfigError, EvolveError, Task, TaskError

if TYPE_CHECKING:  # importing the protocols imports numpy, which a task's own Python may lack
    from evolve.protocols import Evaluator

_SOCKET = 3
_TRACE_SHOWN = 1500


class MakeBox(Protocol):
    """Makes the box of a charge, for devices."""

    def __call__(self, charge: Charge, devices: Devices, /) -> Sandbox: ...


def main(spawner: int) -> None:
    """The whole life of a worker; `spawner` is the process that must be its parent."""
    close_to_others()
    # A task's folder holds what decides a score, and nothing that a run leaves there.
    sys.dont_write_bytecode = True
    if die_with_parent(spawner):
        with socket.socket(fileno=_SOCKET) as sock:
            serve(sock)


def _box(charge: Charge, devices: Devices) -> Box:
    task = charge.task
    # Of a task in one file, what lies beside it is as little the candidates' business.
    hidden = (task.folder, *charge.hidden)
    return Box(task.limits, context=task.context, means=charge.means, hidden=hidden, devices=devices)


def serve(sock: socket.socket, make_box: MakeBox = _box) -> None:
    """Takes the `Charge` as the first frame and answers with a `Description`, then a report for each job, until the end of file; between
    two reports it says when it waits for devices, and when it has them."""
    first = receive_frame(sock)
    if first is None:
        return
    charge = decode_charge(first)
    task = charge.task
    allocator = attempt(
        lambda: DeviceAllocator(
            task,
            charge.devices,
            lambda devices: make_box(charge, devices),
            lambda waits: send_frame(sock, WAITS if waits else GOES_ON),
        )
    )
    if isinstance(allocator, Raised):
        send_frame(sock, encode_description(_failed(task, allocator)))
        return
    try:
        _serve(sock, task, allocator)
    finally:
        allocator.close()


def _serve(sock: socket.socket, task: Task, allocator: DeviceAllocator) -> None:
    made = attempt(lambda: _bench(task, allocator.isolation))
    if isinstance(made, Raised):
        send_frame(sock, encode_description(_failed(task, made)))
        return
    send_frame(sock, encode_description(_description(made, allocator)))
    gc.freeze()
    while (data := receive_frame(sock)) is not None:
        report = evaluate_job(decode_job(data), made, allocator.open, allocator.allocate, allocator.beside)
        send_frame(sock, encode_report(report))


def _bench(task: Task, isolation: str) -> Bench:
    evaluator, folder = load_evaluator(task), Path(task.folder)
    modules = imports(folder, deciding(folder, task.one_file, task.prompts_folder))
    return prepare(task, evaluator, isolation, environment(modules))


def _description(made: Bench, allocator: DeviceAllocator) -> Description:
    return Description(
        stages=tuple(stage.name for stage, _ in made.stages),
        functions=tuple(sorted(made.functions)),
        hardware="; ".join(filter(None, [hardware(), allocator.accelerators(stage for stage, _ in made.stages)])),
        isolation=made.isolation,
        environment=made.environment,
        limit=sum(stage.limit for stage, _ in made.stages),
        tops={stage.name: stage.top for stage, _ in made.stages if stage.top is not None},
    )


def _failed(task: Task, raised: Raised) -> Description:
    """Why nothing can be judged. Our own errors say it already; anything else comes with the end of its traceback."""
    error, source = raised.error, task.evaluator.path or task.evaluator.plugin
    if isinstance(error, TaskCodeError):
        return _traced(task, error.said, error.raised, "mend it; --debug shows the traceback")
    if isinstance(error, EvolveError):
        return Description(error=_of_the_task(task, error))
    said = f"the evaluator {source!r} of task {task.name!r} does not load: {raised.line}"
    return _traced(task, said, raised, "mend it until it can be imported; --debug shows where it fails")


def _traced(task: Task, said: str, raised: Raised, remedy: str) -> Description:
    """What code of the task's has raised, and what to do: the `remedy`, unless only a package is missing."""
    error = raised.error
    if task.python and isinstance(error, ModuleNotFoundError):
        remedy = (
            f"install {error.name} for the Python that the task names (`{task.python} -m pip install {error.name}`, or "
            f"`uv pip install --python {task.python} {error.name}`), or name another in [environment]"
        )
    return Description(error=f"{said}. Do: {remedy}", trace=raised.trace[-_TRACE_SHOWN:])


def _of_the_task(task: Task, error: EvolveError) -> str:
    """The error's words, with the task's path where they do not name it."""
    said = str(error)
    if not isinstance(error, TaskError | ConfigError) or task.folder in said:
        return said
    return f"{task.path}: {'' if said.startswith('evaluator') else 'evaluator: '}{said}"


def load_evaluator(task: Task) -> "Evaluator":
    """The evaluator that the task names; raises what its code raises, and `EvolveError`. A folder's may import its neighbours; what is
    beside a task in one file is no part of its version, so it cannot be imported."""
    check_version(task)
    if task.evaluator.path is None:
        return _from_plugin(task)
    path = Path(task.folder) / task.evaluator.path
    if not path.is_file():
        raise TaskError(f"there is no evaluator at {path}. Do: write one, or correct `evaluator` in task.toml")
    module = execute_file(path, neighbours=not task.one_file)
    found = {id(value): value for value in vars(module).values() if isinstance(value, CodedEvaluator)}
    if len(found) != 1:
        raise TaskError(
            f"{path} has {len(found)} functions marked @evaluator, wanted one. Do: mark the function that judges a program"
        )
    return next(iter(found.values()))


def _from_plugin(task: Task) -> "Evaluator":
    """Plugins, and what they need, are imported for this alone."""
    try:
        plugins = importlib.import_module("evolve.plugins")
    except ModuleNotFoundError as error:
        raise TaskError(
            f"the evaluator of task {task.name!r} is the plugin's {task.evaluator.plugin!r}, and its Python, {sys.executable}, has no "
            f"{error.name}. Do: install evolve and that plugin there, or take [environment] out of task.toml"
        ) from error
    evaluator: Evaluator = plugins.load().evaluator(task.evaluator)
    return evaluator
