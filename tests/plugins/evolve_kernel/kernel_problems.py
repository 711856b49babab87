"""A small problem of kernels as a text, tasks that are evaluated by it, and objects that the system's compiler makes."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve.task import load
from evolve.testing import rehearsed_task
from evolve.types import EvaluatorSource, Program, Task
from evolve_kernel.backend import Called, Question
from evolve_kernel.compiled import FLAGS, STANDARDS, compiler

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="clocks of other processes are Linux's")

DOUBLING = '''
"""Double numbers."""

import numpy as np

REGIMES = ("small", "large")
TOLERANCE = {"out": 1e-6}


def shapes(parameters):
    return [{"count": count} for count in (parameters.count, 3 * parameters.count)]


def arguments(shape):
    dims = (shape["count"],)
    return [("out", "out", dims, "float32"), ("in", "given", dims, "float32"), ("room", "room", dims, "float64"), ("number", "count", shape["count"])]


def make_inputs(rng, shape, regime):
    return {"given": (rng.standard_normal(shape["count"]) * {"small": 1, "large": 1e20}[regime]).astype(np.float32)}


def oracle(inputs, shape):
    return {"out": 2.0 * inputs["given"].astype(np.float64)}


def work(shape):
    return 8 * shape["count"], shape["count"]
'''
HEADER = """
#ifdef __cplusplus
extern "C"
#endif
void doubled(float *out, const float *given, double *room, long count);
"""
KERNEL = """#include "doubled.h"
void doubled(float *out, const float *given, double *room, long count)
{
    for (int again = 0; again < 20; again++) { /* so that there is something to time */
        for (long i = 0; i < count; i++)
            room[i] = given[i];
        __asm__ volatile("" ::: "memory");
    }
    for (long i = 0; i < count; i++)
        out[i] = (float)(room[i] + given[i]);
}
"""
SETTINGS = {"module": "problem.py", "function": "doubled", "header": "doubled.h", "first": 2, "rounds": 2}
COUNT = 100_000


def doubling(folder: Path, text: str = DOUBLING, kernel: str = KERNEL, file: str = "doubled.c", **fields: Any) -> Task:
    """A task whose folder has the module, and whose program is the kernel."""
    (folder / "problem.py").write_text(text)
    values = {
        "folder": str(folder),
        "axes": (),
        "stages": (),
        "entry": "",
        "parameters": {"count": COUNT},
        "seed": Program({file: kernel}),
        "context": {"doubled.h": HEADER},
        "deterministic": False,
        "evaluator": EvaluatorSource(plugin="kernel", settings=SETTINGS),
    }
    return replace(rehearsed_task(), **{**values, **fields})


TASK = """schema = 1
program = { files = ["FILE"], context = ["doubled.h"], entry = "" }

[evaluator]
plugin = "kernel"
module = "problem.py"
function = "doubled"
header = "doubled.h"
language = "LANGUAGE"
first = 2
rounds = 2

[parameters]
count = COUNT

[sandbox]
exec = false
"""


def written(
    folder: Path, text: str = DOUBLING, kernel: str = KERNEL, file: str = "doubled.c", language: str = "c"
) -> Task:
    """The same as files, for judges in processes of their own."""
    told = TASK.replace("FILE", file).replace("LANGUAGE", language).replace("COUNT", str(COUNT))
    files = {"problem.py": text, file: kernel, "doubled.h": HEADER, "README.md": "Double numbers.\n", "task.toml": told}
    for name, content in files.items():
        (folder / name).write_text(content)
    return load(folder)


def compiled(folder: Path, source: str, *flags: str, language: str = "c") -> bytes:
    """An object by the judge's flags."""
    made = compiler(language)
    suffix = {"c": "c", "c++": "cc"}[language]
    (folder / f"program.{suffix}").write_text(source)
    (folder / "doubled.h").write_text(HEADER)
    wanted = [flag for flag in FLAGS if made.x86 or "cf-protection" not in flag]
    command = [made.command, *STANDARDS[language], *wanted, *flags, "-c", "-o", "program.o", f"program.{suffix}"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "program.o").read_bytes()


class PlayedSide:
    """A side whose times and answers a test decides; it doubles."""

    def __init__(self, seconds: Sequence[float], off: float = 0.0, tag: str = "") -> None:
        self.questions: list[tuple[Question, int]] = []
        self._seconds = list(seconds)
        self.off = off
        self.tag = tag

    def call(self, question: Question, poison: int) -> Called:
        """The next of its times, again and again."""
        self.questions.append((question, poison))
        answer = (2 * question.inputs["given"] * np.float32(1 + self.off)).astype(np.float32)
        return Called({"out": answer}, self._seconds[len(self.questions) % len(self._seconds)], self.tag)
