"""The Python that a task names for its workers and candidates, when that is not the engine's own: a check that it can be used, and the command of
a worker there.

Invariant: nothing of the engine's environment but the package `evolve` itself is importable in such a worker."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from evolve.types import TaskError

OLDEST = (3, 11)
_PACKAGE = Path(__file__).resolve().parents[1]
_WORKER = "import sys; from evolve.evaluation.worker import main; main(int(sys.argv[1]))"
# The package alone, by its place: the folder that it lies in may hold all that is installed beside the engine.
_WORKER_ELSEWHERE = """
import importlib.util, sys
found = importlib.util.spec_from_file_location("evolve", sys.argv[2] + "/__init__.py", submodule_search_locations=[sys.argv[2]])
sys.modules["evolve"] = importlib.util.module_from_spec(found)
found.loader.exec_module(sys.modules["evolve"])
from evolve.evaluation.worker import main
main(int(sys.argv[1]))
"""
# Valid in Pythons of any age, so that one that is too old can say so.
_QUESTION = "import sys; print('\\nevolve asked: %d.%d.%d' % sys.version_info[:3])"
_ANSWER = re.compile(r"^evolve asked: (\d+)\.(\d+)\.(\d+)$", re.MULTILINE)
_PATIENCE = 20.0
_SHOWN = 300
_MAKE_ONE = (
    "`uv venv --python 3.12 FOLDER`, `conda create -p FOLDER python=3.12 numpy` or `python3 -m venv FOLDER` makes one"
)


def worker_command(python: str, spawner: int) -> list[str]:
    """Returns the command of an evaluation worker; an empty `python` is the engine's own."""
    options = ["-P", "-X", "faulthandler", "-c"]
    if not python:
        return [sys.executable, *options, _WORKER, str(spawner)]
    return [python, *options, _WORKER_ELSEWHERE, str(spawner), str(_PACKAGE)]


def worker_environment(python: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of a worker: another Python has modules of its own."""
    return {name: value for name, value in environment.items() if not python or name != "PYTHONPATH"}


def check(python: str, environment: Mapping[str, str]) -> None:
    """Starts the task's Python once and asks for its version; raises `TaskError` where it cannot be used, with the remedy."""
    reason = _unusable(python, worker_environment(python, environment))
    if reason:
        raise TaskError(f"the task's Python, {python!r} ([environment] in task.toml), {reason}")


def _unusable(python: str, environment: Mapping[str, str]) -> str:
    """Returns the reason that a Python cannot be used, with its remedy; empty where it can."""
    try:
        asked = subprocess.run(
            [python, "-E", "-s", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(environment),
            cwd=os.sep,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"has not answered within {_PATIENCE:g} seconds. Try: try it by hand, or name another"
    except OSError as error:
        return (
            f"cannot be run: {error.strerror}. Try: correct its path, which names the interpreter itself; {_MAKE_ONE}"
        )
    answer = _ANSWER.search(asked.stdout.decode("utf-8", "replace"))
    if asked.returncode or answer is None:
        words = " ".join(asked.stderr.decode("utf-8", "replace").split())[-_SHOWN:]
        return f"does not answer as a Python does (exit code {asked.returncode}{words and ': ' + words}). Try: try it by hand, or name another; {_MAKE_ONE}"
    if tuple(map(int, answer.groups())) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        return f"is Python {'.'.join(answer.groups())}, and workers need {wanted} or newer. Try: name a newer one; {_MAKE_ONE}"
    return ""
