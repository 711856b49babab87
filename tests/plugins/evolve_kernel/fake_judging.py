"""Programs evaluated on a GPU that is none: a task that doubles numbers, recorded or evaluated from beginning to end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evolve import Program
from evolve.task import load
from evolve.types import Evaluation, Parameters, Task, Trial
from evolve_kernel.evaluator import Kernel
from evolve_kernel.settings import KernelSettings
from tests.plugins.evolve_kernel.fake_gpu import FakeCandidate, FakeCuda

FOUR = (4).to_bytes(8, "little").hex()
LAUNCH: list[Any] = [0, [1, 1, 1], [32, 1, 1], 0, [[0, 0], [1, 0], FOUR]]
KERNEL: list[Any] = ["double", np.frombuffer(b"double", "uint8"), {"registers": 32, "spilled": 0, "shared": 0}]
SETTINGS = KernelSettings(module="problem.py", function="double", language="triton")
TOML = """schema = 1
program = { files = ["double.py"], entry = "double" }
evaluator = { plugin = "kernel", module = "problem.py", function = "double", language = "triton" }
[sandbox]
gpu = 1
"""


def double_task(folder: Path) -> Task:
    """The task that doubles, in a folder."""
    for name, text in {"task.toml": TOML, "README.md": "Double.\n", "double.py": "", "problem.py": ""}.items():
        (folder / name).write_text(text)
    return load(folder)


PROBLEM = """
import numpy as np

REGIMES = ("normal", "large")
TOLERANCE = {"out": 0}


def shapes(parameters):
    return [{"count": 4}, {"count": 7}]


def arguments(shape):
    dims = (shape["count"],)
    return [("out", "out", dims, "float32"), ("in", "in", dims, "float32"), ("number", "count", shape["count"])]


def make_inputs(rng, shape, regime):
    return {"in": rng.standard_normal(shape["count"], dtype=np.float32) * (1000 if regime == "large" else 1)}


def oracle(inputs, shape):
    return {"out": 2.0 * inputs["in"].astype(np.float64)}


def work(shape):
    return 8 * shape["count"], shape["count"]
"""


class RecordedCandidate(FakeCandidate):
    """Whose text is the name of its binary: what is recorded is one launch for each call."""

    @contextmanager
    def session(self, *, files: Any, timed: bool = False) -> Iterator[Any]:
        with super().session(files=files, timed=timed) as session:
            session.call = self.recorded  # type: ignore[method-assign]
            yield session

    def recorded(self, function: str, text: str, calls: list[Any]) -> dict[str, Any]:
        if text == "library":
            return {"refused": "it launches a kernel that is not its own"}
        numbers = [call[-1][-1].to_bytes(8, "little").hex() for call in calls]
        kernel = [text, np.frombuffer(text.encode(), "uint8"), KERNEL[2]]
        return {"kernels": [kernel], "calls": [[[*LAUNCH[:4], [[0, 0], [1, 0], one]]] for one in numbers]}

    def beside(self, program: Program) -> "RecordedCandidate":
        return RecordedCandidate(program, self.library)


def evaluated(task: Task, cuda: FakeCuda, binary: str) -> Evaluation:
    """A program evaluated from beginning to end, beside the seed."""
    (Path(task.folder) / "problem.py").write_text(PROBLEM)
    ((_, judge),) = Kernel(SETTINGS).stages(replace(task, seed=Program({"double.py": "double"})))
    candidate = RecordedCandidate(Program({"double.py": binary}), cuda)
    return judge(candidate, Trial(parameters=Parameters({})))


def program(text: str) -> str:
    """A launch(out, given, count) of the fake's, with `kernel(binary)`, which loads, and `start(function, *values)`."""
    return f"""
import torch
import triton.runtime
utils = triton.runtime.driver.active.utils
functions = {{}}
def kernel(binary):
    if binary not in functions:
        functions[binary] = utils.load_binary(binary.decode(), binary, 0, 0)[1]
    return functions[binary]
def start(function, *values, sizes=(2, 1, 1, 32, 1, 1, 64)):
    torch.library.launched(function, sizes, [value.to_bytes(8, "little", signed=True) for value in values])
{text}
"""
