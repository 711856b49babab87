"""Facts about the runner in a real box, on a machine without a GPU: it is what is called there, whatever the program brings."""

from contextlib import closing
from pathlib import Path

import pytest

from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.task import load
from evolve.types import Outcome, Parameters, TextId, Trial

pytestmark = pytest.mark.integration

EVALUATOR = """from evolve import Candidate, Evaluation, SessionFailed, Trial, evaluator
from evolve_kernel.gpu_backend import place_module


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    files = {**dict.fromkeys(candidate.program.files, b""), **place_module(trial.parameters.entry, trial.parameters.module)}
    with candidate.session(files=files) as session:
        try:
            session.call(trial.parameters.function, *([] if trial.parameters.function == "nothing" else [[], 1]))
        except SessionFailed as failure:
            return Evaluation.ok(0.0, feedback=str(failure))
    return Evaluation.ok(1.0)
"""
HOSTILE = 'open("was_here", "w")\nraise RuntimeError("the program runs")\n'


def feedback(folder: Path, program: str, parameters: dict[str, str]) -> str:
    """What the box says to a call of a placed module."""
    keys = "\n".join(f'{key} = "{value}"' for key, value in parameters.items())
    toml = f'schema = 1\nprogram = {{ files = {program} }}\n[parameters]\n{keys}\n[sandbox]\npreload = ["numpy"]\n'
    for name, text in {"task.toml": toml, "README.md": "Run.\n", "evaluator.py": EVALUATOR}.items():
        (folder / name).write_text(text)
    task = load(folder)
    with closing(LocalExecutor(task, 1)) as executor:
        job = Job("one", "evaluate", Trial(parameters=Parameters(task.parameters)), files=task.seed.files)
        report = decode_report(executor.submit(job.id, encode_job(job)).result(timeout=60))
    assert (report.evaluation.outcome, report.evaluation.fitness) == (Outcome.OK, 0.0)
    return report.texts[TextId(report.evaluation.feedback)]


@pytest.mark.parametrize(
    ("files", "entry"),
    [({"seed.py": HOSTILE, "ctypes.py": HOSTILE}, "seed"), ({"kernel.cu": "no Python"}, "")],
)
def test_a_runner_is_what_is_called_and_nothing_of_the_program_runs(
    files: dict[str, str], entry: str, tmp_path: Path
) -> None:
    """It fails where it needs the driver, which is not there, or a module that the program's name hides; the program's text is nowhere."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    names = "[" + ", ".join(f'"{name}"' for name in files) + f'], entry = "{entry}"'
    said = feedback(tmp_path, names, {"entry": entry, "module": "gpu_runner", "function": "begin"})
    assert "the program runs" not in said
    assert ("libcuda.so.1" in said) == (entry == "")


def test_a_recorder_of_cuda_needs_nothing_of_the_program(tmp_path: Path) -> None:
    """Its module is imported, and asked for a function that it has not."""
    (tmp_path / "kernel.cu").write_text("")
    said = feedback(
        tmp_path, '["kernel.cu"], entry = ""', {"entry": "", "module": "gpu_recorder", "function": "nothing"}
    )
    assert "has no function 'nothing'" in said
