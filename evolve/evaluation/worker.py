"""Program of an evaluation worker: loads a task's evaluator once, then turns jobs into reports until its engine ends.

It runs in the task's own Python, where there may be nothing but the standard library: what it imports needs no more, but for an
evaluator that a plugin brings. Invariant: the socket carries frames and nothing else; what an evaluator prints goes elsewhere."""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evolve.evaluation.cascade import Bench, evaluate_job, prepare
from evolve.evaluation.device_allocator import DeviceAllocator, Sandbox
from evolve.evaluation.evaluator import CodedEvaluator
from evolve.evaluation.job import GOES_ON, WAITS, Charge, Description, decode_job, decode_message, encode_message
from evolve.evaluation.provenance import check_version, deciding, environment, hardware, imports
from evolve.evaluation.task_code import Raised, TaskCodeError, attempt, execute_file
from evolve.sandbox.box import Box
from evolve.sandbox.kernel import LINUX, PR_SET_PDEATHSIG, close_to_others, prctl
from evolve.sandbox.policy import Devices
from evolve.types import ConfigError, EvolveError, Task, TaskError

if TYPE_CHECKING:  # importing the protocols imports numpy, which a task's own Python may lack
    from evolve.protocols import Evaluator

_SOCKET = 3
_TRACE_SHOWN = 1500


MakeBox: TypeAlias = Callable[[Charge, Devices], Sandbox]
"""Makes the box of a charge, for devices."""


def main(spawner: int) -> None:
    """Lives a worker's whole life; `spawner` is the process that must be its parent."""
    close_to_others()
    # A task's folder holds what decides a score, and nothing that a run leaves there.
    sys.dont_write_bytecode = True
    # A spawner that ended before this line would leave a worker that nobody ends.
    if die_with_parent(spawner):
        with Connection(_SOCKET) as engine:
            serve(engine)


def die_with_parent(parent: int) -> bool:
    """Has this process killed when its parent ends; returns False when `parent` is its parent no longer."""
    if LINUX:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    return os.getppid() == parent


def _box(charge: Charge, devices: Devices) -> Box:
    task = charge.task
    # Of a task in one file, what lies beside it is as little the candidates' business.
    hidden = (task.folder, *charge.hidden)
    return Box(task.limits, context=task.context, means=charge.means, hidden=hidden, devices=devices)


def serve(engine: Connection, make_box: MakeBox = _box) -> None:
    """Takes the `Charge` as the first frame and answers with a `Description`, then a report for each job, until an empty frame or the engine's end; between
    two reports it says when it waits for devices, and when it has them."""
    first = _receive(engine)
    if not first:
        return
    charge = decode_message(Charge, first)
    task = charge.task
    allocator = attempt(
        lambda: DeviceAllocator(
            task,
            charge.devices,
            lambda devices: make_box(charge, devices),
            lambda waits: engine.send_bytes(WAITS if waits else GOES_ON),
        )
    )
    if isinstance(allocator, Raised):
        engine.send_bytes(encode_message(_failed(task, allocator)))
        return
    try:
        _serve(engine, task, allocator)
    finally:
        allocator.close()


def _receive(engine: Connection) -> bytes:
    """Returns the next frame; empty when there will be none."""
    try:
        return engine.recv_bytes()
    except (EOFError, OSError):
        return b""


def _serve(engine: Connection, task: Task, allocator: DeviceAllocator) -> None:
    bench = attempt(lambda: _bench(task, allocator.isolation))
    if isinstance(bench, Raised):
        engine.send_bytes(encode_message(_failed(task, bench)))
        return
    engine.send_bytes(encode_message(_description(bench, allocator)))
    gc.freeze()  # the evaluator's modules live as long as the worker: no collection looks at them again
    while data := _receive(engine):
        report = evaluate_job(decode_job(data), bench, allocator.open, allocator.allocate, allocator.beside)
        engine.send_bytes(encode_message(report))


def _bench(task: Task, isolation: str) -> Bench:
    evaluator, folder = load_evaluator(task), Path(task.folder)
    modules = imports(folder, deciding(folder, task.one_file, task.prompts_folder))
    return prepare(task, evaluator, isolation, environment(modules))


def _description(bench: Bench, allocator: DeviceAllocator) -> Description:
    return Description(
        stages=tuple(stage.name for stage, _ in bench.stages),
        functions=tuple(sorted(bench.functions)),
        hardware="; ".join(filter(None, [hardware(), allocator.accelerators(stage for stage, _ in bench.stages)])),
        isolation=bench.isolation,
        environment=bench.environment,
        limit=sum(stage.limit for stage, _ in bench.stages),
        tops={stage.name: stage.top for stage, _ in bench.stages if stage.top is not None},
    )


def _failed(task: Task, raised: Raised) -> Description:
    """Describes why nothing can be evaluated. Our own errors say it already; what the task's code has raised comes with the end of its traceback."""
    error = raised.error
    if isinstance(error, EvolveError) and not isinstance(error, TaskCodeError):
        told = str(error)
        if isinstance(error, TaskError | ConfigError) and task.folder not in told:
            told = f"{task.path}: {'' if told.startswith('evaluator') else 'evaluator: '}{told}"
        return Description(error=told)
    told = f"the evaluator {(task.evaluator.path or task.evaluator.plugin)!r} of task {task.name!r} does not load: {raised.line}"
    if isinstance(error, TaskCodeError):
        told, raised = error.said, error.raised
    remedy = "mend it; --debug shows the traceback"
    if task.python and isinstance(raised.error, ModuleNotFoundError):
        name = raised.error.name
        remedy = (
            f"install {name} for the Python that the task names (`{task.python} -m pip install {name}`, or "
            f"`uv pip install --python {task.python} {name}`), or name another in [environment]"
        )
    return Description(error=f"{told}. Try: {remedy}", trace=raised.trace[-_TRACE_SHOWN:])


def load_evaluator(task: Task) -> "Evaluator":
    """Returns the evaluator that the task names; raises what its code raises, and `EvolveError`. A folder's may import its neighbours; what is
    beside a task in one file is no part of its version, so it cannot be imported."""
    check_version(task)
    if task.evaluator.path is None:
        return _from_plugin(task)
    path = Path(task.folder) / task.evaluator.path
    if not path.is_file():
        raise TaskError(f"there is no evaluator at {path}. Try: write one, or correct `evaluator` in task.toml")
    module = execute_file(path, neighbours=not task.one_file)
    found = {id(value): value for value in vars(module).values() if isinstance(value, CodedEvaluator)}
    if len(found) != 1:
        raise TaskError(
            f"{path} has {len(found)} functions marked @evaluator, wanted one. Try: mark the function that evaluates a program"
        )
    return next(iter(found.values()))


def _from_plugin(task: Task) -> "Evaluator":
    """Returns a plugin's evaluator. Plugins, and what they need, are imported for this alone: the task's own Python may lack numpy."""
    try:
        plugins = importlib.import_module("evolve.plugins")
    except ModuleNotFoundError as error:
        raise TaskError(
            f"the evaluator of task {task.name!r} is the plugin's {task.evaluator.plugin!r}, and its Python, {sys.executable}, has no "
            f"{error.name}. Try: install evolve and that plugin there, or take [environment] out of task.toml"
        ) from error
    evaluator: Evaluator = plugins.load().evaluator(task.evaluator)
    return evaluator
