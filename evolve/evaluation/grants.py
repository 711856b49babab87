"""Checks of a task's grants: this machine can give them, and nothing that a score rests on, no log, and no home is opened to the programs."""

import os
from collections.abc import Sequence
from pathlib import Path

from evolve.devices import Gpu, device_names
from evolve.sandbox.machine.visible import is_below, is_shared
from evolve.types import Task, TaskError

_ENGINE = Path(__file__).resolve().parents[1]


def check_grants(task: Task, hidden: Sequence[str] = (), gpus: Sequence[Gpu] = ()) -> None:
    """Raises `TaskError` with the first thing that cannot be granted, and the remedy; `hidden` is where logs are kept, `gpus` are those that may be leased."""
    for written in task.limits.grants.read:
        reason = _reason(Path(written), task, hidden)
        if reason:
            raise TaskError(f"task {task.name!r} lets its programs read {written!r} (sandbox.read), which {reason}")
    if task.limits.grants.gpu and not gpus:
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU (sandbox.gpu), and none may be leased here; `evolve devices` lists what there is. "
            "Try: install NVIDIA's driver (in a container, pass the device on), grant one with --devices, or use another machine"
        )
    if len({gpu.name for gpu in gpus}) > 1:
        raise TaskError(
            f"task {task.name!r} gives its programs a GPU, and there are {device_names(gpus)}: scores of one would not compare with those of "
            "another. Try: name those of one model, such as --devices gpu:0; `evolve devices` lists them"
        )


def _reason(place: Path, task: Task, hidden: Sequence[str]) -> str:
    """Returns the reason not to open a folder, with its remedy; empty where it may be opened."""
    if not place.is_dir():
        return "is no folder that is there. Try: fetch the data, correct the path, or set the variable in it"
    if not os.access(place, os.R_OK | os.X_OK):
        return "this user may not read. Try: `chmod` it, or name another"
    real, own = Path(os.path.realpath(place)), Path(os.path.realpath(task.folder))
    if is_shared(real):
        return "is somebody's home, or shared by the whole system. Try: name the folder in it that holds the data"
    # A plugin's evaluator lies elsewhere; the task's own file stands for it.
    evaluator = own / (task.evaluator.path or task.one_file or task.task_file or "task.toml")
    if is_below(Path(os.path.realpath(evaluator)), {real}):
        return "holds the task's evaluator. Try: put the data into a folder of its own"
    if is_below(_ENGINE, {real}) or (is_below(real, {_ENGINE}) and not is_below(real, {own})):
        return "holds the engine, or is part of it. Try: put the data into a folder of its own"
    for kept in hidden:
        # Logs have every program and score, and what was held out.
        if is_below(Path(os.path.realpath(kept)), {real}) or is_below(real, {Path(os.path.realpath(kept))}):
            return (
                f"holds logs of campaigns, or lies among them ({kept}). "
                "Try: put the data into a folder of its own, or the logs elsewhere with EVOLVE_HOME"
            )
    return ""
