"""A plugin: what prompts tell of the machine that programs run on, so that a model writes for it.

Invariant: equal tasks on one machine have equal facts; none of them names a host, a user or a place."""

import functools
import subprocess
from collections.abc import Sequence
from pathlib import Path

from evolve.evaluation.provenance import environment, processor
from evolve.evaluation.spawner import worker_environment
from evolve.hookspecs import hookimpl
from evolve.types import Section, Selection, Task

NAME = "hardware"
"""What the section is called."""
_QUESTION = """
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
found = ["python " + python_version()]
for name in ("numpy", "highspy"):
    try:
        found.append(name + " " + version(name))
    except PackageNotFoundError:
        pass
print(", ".join(found))
"""
_PATIENCE = 20.0


@hookimpl
def prompt_sections(task: Task, selection: Selection) -> Sequence[Section]:
    """One section with the facts."""
    cores = max(stage.needs.cores for stage in task.stages)
    return [Section(NAME, _facts(cores, bool(task.limits.grants.gpu), task.python))]


@functools.lru_cache(maxsize=64)
def _facts(cores: int, with_gpu: bool, python: str) -> str:
    """Asked once: neither changes while a process runs, and prompts are many."""
    facts = [f"Processor: {processor()}, of which a program has {cores} core{'s' if cores > 1 else ''}."]
    gpu = graphics() if with_gpu else ""
    if gpu:
        facts.append(f"GPU: {gpu}.")
    versions = _versions(python) if python else environment()
    if versions:
        facts.append(f"Installed: {versions}.")
    return "\n".join(("## The machine", "", *(f"- {fact}" for fact in facts)))


def graphics(driver: Path = Path("/proc/driver/nvidia/gpus")) -> str:
    """The model of the first GPU that NVIDIA's driver tells of; empty where it tells of none."""
    for information in sorted(driver.glob("*/information")):
        for line in information.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "Model":
                return value.strip()
    return ""


def _versions(python: str) -> str:
    """Returns the versions of the interpreter that a task names; empty where it does not answer, which is told when a worker starts."""
    try:
        asked = subprocess.run(
            [python, "-E", "-s", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=worker_environment(python, {}),
            cwd="/",
            timeout=_PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace").strip()
