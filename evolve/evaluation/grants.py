"""Checks of a task's grants: that this machine can give them, and that they may be.

Invariant: nothing that a score rests on, no log, and no home, is opened to the programs that are judged."""

import os
from collections.abc import Sequence
from pathlib import Path

from evolve.devices import Gpu, device_names
from evolve.evaluation.machine import has_gpu
from evolve.sandbox.machine.visible import is_below, is_shared
from evolve.types import Task, TaskError

_ENGINE = Path(__file__).resolve().parents[1]


def check_grants(task: Task, hidden: Sequence[str] = (), devices: Path = Path("/dev")) -> None:
    """Raises `TaskError` with the first thing that cannot be granted, and the remedy; `hidden` is where logs are kept."""
    for written in task.limits.grants.read:
        reason = _unreadable(Path(written), task) or _with_logs(Path(written), hidden)
        if reason:
            raise TaskError(f"task {task.name!r} lets its programs read {written!r} (sandbox.read), which {reason}")
    if task.limits.grants.gpu and not has_gpu(devices):
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU (sandbox.gpu), and this machine has none that can be seen. "
            f"Do: look for {devices / 'nvidia0'} or {devices / 'kfd'} (in a container, pass the device on), or use another machine"
        )


def check_alike(task: Task, gpus: Sequence[Gpu]) -> None:
    """Raises `TaskError` where the task's programs would be judged now on one model of GPU and now on another, so that their scores would not compare."""
    if len({gpu.name for gpu in gpus}) > 1:
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU, and there are {device_names(gpus)}: scores of one would not compare with those of "
            "another. Do: name those of one model, such as --devices gpu:0; `evolve devices` lists them"
        )


def _unreadable(place: Path, task: Task) -> str:
    """Returns the reason not to open a folder, with its remedy; empty where it may be opened."""
    if not place.is_dir():
        return _missing(place)
    if not os.access(place, os.R_OK | os.X_OK):
        return "this user may not read. Do: `chmod` it, or name another"
    real, own = Path(os.path.realpath(place)), Path(os.path.realpath(task.folder))
    if is_shared(real):
        return "is somebody's home, or shared by the whole system. Do: name the folder in it that holds the data"
    if is_below(_evaluator(own, task), {real}):
        return "holds the task's evaluator. Do: put the data into a folder of its own"
    if is_below(_ENGINE, {real}) or (is_below(real, {_ENGINE}) and not is_below(real, {own})):
        return "holds the engine, or is part of it. Do: put the data into a folder of its own"
    return ""


def _with_logs(place: Path, hidden: Sequence[str]) -> str:
    """Returns the reason, where a folder holds logs of campaigns or lies among them: they have every program and score, and what was held out."""
    real = Path(os.path.realpath(place))
    for kept in hidden:
        if is_below(Path(os.path.realpath(kept)), {real}) or is_below(real, {Path(os.path.realpath(kept))}):
            return (
                f"holds logs of campaigns, or lies among them ({kept}). "
                "Do: put the data into a folder of its own, or the logs elsewhere with EVOLVE_HOME"
            )
    return ""


def _missing(place: Path) -> str:
    if place.exists():
        return "is a file. Do: name the folder that it lies in"
    if "$" in str(place):
        return "is not there: a variable in it is not set. Do: set it, or write the path"
    return "is not there. Do: correct the path, or fetch the data"


def _evaluator(folder: Path, task: Task) -> Path:
    """The file that judges; for a plugin's evaluator, what stands for it is the task's own file."""
    return Path(os.path.realpath(folder / (task.evaluator.path or task.one_file or task.task_file or "task.toml")))
