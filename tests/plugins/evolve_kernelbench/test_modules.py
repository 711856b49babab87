"""References of PyTorch modules become tasks, whose programs are evaluated: with torch alone, on the processor."""

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.task import load
from evolve.types import ConfigError, Outcome, Parameters, Task, Trial
from tests.plugins.evolve_kernelbench.modules import CHEATS, FASTER, change

torch = pytest.importorskip("torch", reason="needs torch: make test-slow")

from evolve_kernelbench.answers import ModuleReference  # noqa: E402
from evolve_kernelbench.commands import import_tasks  # noqa: E402
from evolve_kernelbench.convert import convert  # noqa: E402
from evolve_kernelbench.lint import execute_reference, lint  # noqa: E402

PROBLEMS = Path(__file__).parent / "problems"
NAMES = ("6_layer_norm", "9_convolution", "10_cosine_distance", "24_product_add_norm")
"""Seeds that are evaluated here; `benchmarks/modules.py` evaluates all."""
LARGER = {
    "1_square_product": ["N=768"],
    "9_convolution": ["SIDE=192"],
    "21_linear_gelu_scale": ["BATCH=2048"],
    "22_linear_sum": ["BATCH=1024"],
    "24_product_add_norm": ["BATCH=2048"],
    "25_diagonal_product": ["N=1024"],
}
"""Sizes with which a fast machine takes longer than the shortest time that is accepted, too."""
PATIENCE = 300.0


def written(name: str, folder: Path, precision: str = "float32") -> Task:
    """The task of a problem."""
    told = ["kernelbench", str(PROBLEMS / f"{name}.py"), "-o", str(folder), "--precision", precision, "--json"]
    told += [word for size in LARGER.get(name, []) for word in ("--set", size)]
    result = CliRunner().invoke(import_tasks, told, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return load(json.loads(result.output)["task"])


def evaluated(task: Task, files: Mapping[str, str] | None = None) -> Report:
    """One evaluation of a program; of the seed without one."""
    job = Job("one", "evaluate", Trial(parameters=Parameters(task.parameters)), files=files or task.seed.files)
    with closing(LocalExecutor(task, 1)) as executor:
        return decode_report(executor.submit(job.id, encode_job(job)).result(timeout=PATIENCE))


@pytest.fixture(scope="module")
def square(tmp_path_factory: pytest.TempPathFactory) -> Task:
    """The task that cheats are for."""
    return written("1_square_product", tmp_path_factory.mktemp("square"))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_seed_of_a_reference_is_right(name: str, tmp_path: Path) -> None:
    assert evaluated(written(name, tmp_path)).evaluation.outcome is Outcome.OK


@pytest.mark.slow
@pytest.mark.parametrize("name", FASTER)
def test_a_module_with_less_work_is_right_and_faster(name: str, tmp_path: Path) -> None:
    """By so much that no machine is too noisy."""
    task = written(name, tmp_path)
    found = evaluated(task, {"seed.py": change(task.seed.files["seed.py"], FASTER[name])}).evaluation
    assert found.outcome is Outcome.OK
    assert found.fitness is not None
    assert found.fitness > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_has_no_score(cheat: str, square: Task) -> None:
    report = evaluated(square, {"seed.py": change(square.seed.files["seed.py"], CHEATS[cheat])})
    assert report.evaluation.fitness is None, report.texts


@pytest.mark.slow
def test_a_task_in_half_precision_takes_answers_in_it(tmp_path: Path) -> None:
    assert evaluated(written("21_linear_gelu_scale", tmp_path, "bfloat16")).evaluation.outcome is Outcome.OK


HEAD = "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, {}):\n        return {}\n\n\ndef get_inputs():\n    return [{}]\n\n\ndef get_init_inputs():\n    return []\n"
BIG = "torch.randn(512, 512)"


@pytest.mark.parametrize(
    ("arguments", "body", "inputs", "reason"),
    [
        ("x", "x @ x", "torch.ones(512, 512)", "its inputs are the same each time"),
        ("x", "nn.functional.dropout(x @ x)", BIG, "it answers one question in two ways"),
        ("x, y", "x @ x", f"{BIG}, {BIG}", "its answer does not depend on input 1"),
        ("x", "(x @ x) * 0 + 1", BIG, "a constant passes for its answer"),
        ("x", "x / 0", BIG, "numbers that are not finite"),
        ("x", "(x @ x, x)", BIG, "answers with a tuple, and one tensor is wanted"),
        ("x", "x + 1", "torch.randn(2, 2)", "a call takes .* can be timed well. Try: larger sizes"),
        ("x", "undefined(x)", BIG, "name 'undefined' is not defined"),
        ("x", "x @ torch.randn(3, 512)", BIG, "the reference fails in double precision"),
    ],
)
def test_a_reference_that_is_no_task_is_refused_with_the_reason(
    arguments: str, body: str, inputs: str, reason: str
) -> None:
    text = HEAD.format(arguments, body, inputs)
    with pytest.raises(ConfigError, match=reason):
        lint(execute_reference(text, "made"), convert(text, "made.py").seed, "float32")


def test_a_tolerance_lies_between_two_precisions() -> None:
    text = (PROBLEMS / "1_square_product.py").read_text()
    reference = execute_reference(text, "square")
    found = lint(reference, convert(text, "square.py").seed, "float32")
    made = ModuleReference(reference, "float32", found.norm, found.each)
    drawn = made.draw(5)
    honest = made.compute(drawn.inputs, "float32").astype(np.float32)
    rounded = made.compute(drawn.inputs, "float32", "bfloat16").astype(np.float32)
    assert made.check(drawn, honest) == ""
    assert "is off by" in made.check(drawn, rounded)


def test_one_bad_file_keeps_no_other_from_becoming_a_task(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "bad.py").write_text("x = 1\n")
    (tmp_path / "files" / "1_good.py").write_text((PROBLEMS / "1_square_product.py").read_text())
    result = CliRunner().invoke(
        import_tasks, ["kernelbench", str(tmp_path / "files"), "-o", str(tmp_path / "tasks"), "--json"]
    )
    assert result.exit_code == 1
    assert [bool(json.loads(line)["task"]) for line in result.output.splitlines()] == [True, False]
    assert [path.name for path in (tmp_path / "tasks").iterdir()] == ["module_1_good"]
