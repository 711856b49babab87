"""PyTorch modules as tasks: the references of the tests against themselves, and modules with less work, as the evaluator times them and by themselves.

Needs torch (`pip install 'evolve[torch]'`). The speed-up by itself is that of calls in this process."""

import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.task import load
from evolve.types import Evaluation, Parameters, Task, Trial
from evolve_kernelbench.answers import ModuleReference
from evolve_kernelbench.commands import list_files
from evolve_kernelbench.convert import convert
from evolve_kernelbench.lint import execute_reference, lint
from tests.plugins.evolve_kernelbench.modules import FASTER, change

PROBLEMS = Path(__file__).parents[1] / "tests" / "plugins" / "evolve_kernelbench" / "problems"
_CALLS = 20
_PATIENCE = 600.0


def main() -> int:
    """Prints a row for each reference, and for each module with less work."""
    if importlib.util.find_spec("torch") is None:
        print("modules: not measured, this Python has no torch (pip install 'evolve[torch]')")
        return 0
    print("| module | speed-up as evaluated (95 %) | by itself |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(PROBLEMS.glob("*.py"), key=lambda path: int(path.stem.partition("_")[0])):
            task, reference = write_task(path, Path(folder) / path.stem)
            seed = task.seed.files["seed.py"]
            print_row(path.stem, evaluate(task, task.seed.files), 1.0)
            if path.stem in FASTER:
                program = change(seed, FASTER[path.stem])
                alone = time_calls(seed, reference) / time_calls(program, reference)
                print_row(f"{path.stem}, less work", evaluate(task, {"seed.py": program}), alone)
    return 0


def write_task(path: Path, folder: Path) -> tuple[Task, ModuleReference]:
    """The task of a reference."""
    text = path.read_text()
    made, module = convert(text, path.name), execute_reference(text, path.stem)
    tolerance = lint(module, made.seed, "float32")
    folder.mkdir()
    for name, content in list_files(path.stem, text, made, "float32", tolerance).items():
        (folder / name).write_text(content)
    return load(str(folder)), ModuleReference(module, "float32", tolerance.norm, tolerance.each)


def evaluate(task: Task, files: Mapping[str, str]) -> Evaluation:
    """One evaluation within all walls that this machine has."""
    job = Job("one", "evaluate", Trial(parameters=Parameters(task.parameters)), files=files)
    with closing(LocalExecutor(task, 1, means=probe().means)) as executor:
        return decode_report(executor.submit(job.id, encode_job(job)).result(timeout=_PATIENCE)).evaluation


def time_calls(program: str, reference: ModuleReference) -> float:
    """Processor seconds of a call in this process, the median of some on fresh inputs."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, "program.py", "exec"), names)
    found = list[float]()
    for number in range(_CALLS):
        drawn = reference.draw(number)
        inputs, answer = drawn.inputs, np.empty(reference.expect(drawn).shape, np.float32)
        began = time.process_time()
        names["run"](answer, *inputs)
        found.append(time.process_time() - began)
    return statistics.median(found)


def print_row(name: str, evaluation: Evaluation, alone: float) -> None:
    """A row; what has no score says how it ended."""
    found = evaluation.metrics
    told = (
        f"{found['speed_up']:.3g} ({found['speed_up_low']:.3g} to {found['speed_up_high']:.3g})"
        if found
        else str(evaluation.outcome)
    )
    print(f"| {name} | {told} | {alone:.3g} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
