"""Kernels on a real GPU: seeds, a kernel in CUDA, and cheats, through real judges. `make gpu-check` runs them where there is one."""

import importlib.util
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from evolve.devices.inventory import find_gpus
from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import PLAIN
from evolve.task import list_bundled, load
from evolve.types import Outcome, Parameters, Task, TextId, Trial

pytestmark = [pytest.mark.gpu, pytest.mark.slow]
PATIENCE = 600.0
EQUAL = 0.15
"""How far ln(speed-up) of a seed against itself may be from 0."""
CUDA = """
extern "C" __global__ void double_it_plan(int *plan, long rows, long columns)
{
    const int threads = 256;
    plan[0] = (rows * columns + threads - 1) / threads;
    plan[1] = plan[2] = plan[4] = plan[5] = 1;
    plan[3] = threads;
    plan[6] = 0;
}

extern "C" __global__ void double_it(float *out, const float *in, long rows, long columns)
{
    const long place = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (place < rows * columns)
        out[place] = 2 * in[place];
}
"""
PROBLEM = """
import numpy as np

REGIMES = ("normal",)
TOLERANCE = {"out": 0}


def shapes(parameters):
    return [{"rows": 4096, "columns": 2048}]


def arguments(shape):
    dims = (shape["rows"], shape["columns"])
    return [("out", "out", dims, "float32"), ("in", "in", dims, "float32"), ("number", "rows", dims[0]), ("number", "columns", dims[1])]


def make_inputs(rng, shape, regime):
    return {"in": rng.standard_normal((shape["rows"], shape["columns"]), dtype=np.float32)}


def oracle(inputs, shape):
    return {"out": 2.0 * inputs["in"].astype(np.float64)}


def work(shape):
    return 8 * shape["rows"] * shape["columns"], shape["rows"] * shape["columns"]
"""
CUDA_TASK = """schema = 1
program = { files = ["double_it.cu"], entry = "" }
evaluator = { plugin = "kernel", module = "problem.py", function = "double_it", language = "cuda", seconds = 20 }
[[stages]]
seconds = 300
needs = { gpus = 1, pinned = true }
[sandbox]
gpu = 1
memory = "24GiB"
preload = ["numpy"]
tasks = 256
"""
FALLBACK = """
import torch


def launch(out, given, rows, columns):
    torch.softmax(given, 1, out=out)
"""
NOTHING = """
import triton
import triton.language as tl


@triton.jit
def idle(out, columns):
    tl.store(out, 0.0)


def launch(out, given, rows, columns):
    idle[(1,)](out, columns)
"""
INPUTS = """
    tl.store(given + row, most)


def launch("""


@pytest.fixture(autouse=True)
def device() -> None:
    """A GPU of NVIDIA's, and what compiles for it."""
    if not find_gpus():
        pytest.skip("this machine has no GPU")
    missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"this Python has no {' and no '.join(missing)}: pip install 'evolve[torch]'")


def evaluated(task: Task, files: Mapping[str, str] | None = None, *, walls: bool = True) -> Report:
    """One evaluation of a program, of the seed without one; within all the walls that this machine has, or none."""
    job = Job("one", "evaluate", Trial(parameters=Parameters(task.parameters)), files=files or task.seed.files)
    with closing(LocalExecutor(task, 1, means=probe().means if walls else PLAIN)) as executor:
        return decode_report(executor.submit(job.id, encode_job(job)).result(timeout=PATIENCE))


@pytest.mark.parametrize("walls", [False, True], ids=["no walls", "walls"])
@pytest.mark.parametrize("name", [name for name in list_bundled() if name.endswith("/triton")])
def test_a_seed_is_right_and_as_fast_as_itself(name: str, *, walls: bool) -> None:
    """Two clocks agreed on every call that counts, or there would be no score."""
    report = evaluated(load(name), walls=walls)
    evaluation = report.evaluation
    assert (evaluation.outcome, evaluation.tag) == (Outcome.OK, ""), report.texts.get(TextId(evaluation.feedback))
    assert evaluation.fitness is not None
    assert abs(evaluation.fitness) < EQUAL
    assert 0 < evaluation.descriptors["of_floor"] < 1.2


def test_a_kernel_in_cuda_is_judged(tmp_path: Path) -> None:
    """By NVIDIA's compiler as a library."""
    for name, text in {
        "task.toml": CUDA_TASK,
        "README.md": "Double.\n",
        "problem.py": PROBLEM,
        "double_it.cu": CUDA,
    }.items():
        (tmp_path / name).write_text(text)
    task = load(tmp_path)
    evaluation = evaluated(task).evaluation
    assert (evaluation.outcome, evaluation.tag) == (Outcome.OK, "")
    slower = CUDA.replace("const int threads = 256", "const int threads = 32")
    assert evaluated(task, {"double_it.cu": slower}).evaluation.outcome is Outcome.OK
    assert evaluated(task, {"double_it.cu": CUDA.replace("2 *", "3 *")}).evaluation.outcome is Outcome.WRONG
    assert evaluated(task, {"double_it.cu": "no text of CUDA"}).evaluation.outcome is Outcome.INVALID


@pytest.mark.parametrize(
    ("text", "outcome"),
    [(FALLBACK, Outcome.INVALID), (NOTHING, Outcome.WRONG), ("def launch(*all):\n    1 / 0\n", Outcome.CRASHED)],
    ids=["a library's softmax", "hardly anything", "an error"],
)
def test_what_is_no_kernel_of_its_own_has_no_score(text: str, outcome: Outcome) -> None:
    """Nor has one that does nothing: there is poison where nothing was written."""
    task = load("kernel_softmax/triton")
    assert evaluated(task, {"softmax_triton.py": text}).evaluation.outcome is outcome


def test_a_program_that_modifies_its_inputs_is_quarantined() -> None:
    """Although its answer is right."""
    task = load("kernel_softmax/triton")
    (seed,) = task.seed.files.values()
    changed = seed.replace("\n\n\ndef launch(", INPUTS, 1)
    assert changed != seed
    evaluation = evaluated(task, {"softmax_triton.py": changed}).evaluation
    assert evaluation.tag == "modified its inputs"
