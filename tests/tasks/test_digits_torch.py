"""Facts about the task `digits_torch`, with torch where it is installed, and without."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evolve.operators.literals import template
from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.task import folders, load
from evolve.types import Outcome, Program, SandboxError
from evolve_recipe.recipe import Recipe
from tests.judged_here import Judged, judging

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the candidate's processes need Linux"),
]

HAS_TORCH = importlib.util.find_spec("torch") is not None
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed: pip install 'evolve[torch]'")
TASK = load("digits_torch")
SEED = TASK.seed.files["seed.py"]
FOLDER = Path(TASK.folder)
QUICK = {"folds": 2}
MORE = "def train(inputs, targets, told):\n    return 1\n\ndef predict(model, inputs):\n    return [0] * len(inputs)\n"
TENSOR = SEED.replace("value.cpu().numpy()", "value", 1)


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source, as one judge process does; no test here is about how fast this machine is."""
    patient = Recipe({**TASK.evaluator.settings, "seconds": 60.0, "predict_seconds": 60.0, "repeats": 1})
    with judging(TASK, patient) as judge:
        yield lambda source, **parameters: judge({"seed.py": source}, **{**QUICK, **parameters})


def twin(name: str) -> str:
    return (FOLDER / "twins" / f"{name}.py").read_text("utf-8")


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_without_torch_nothing_begins() -> None:
    """One error that says how to get it."""
    with pytest.raises(SandboxError, match=r"No module named 'torch'. Try: install .*`pip install 'evolve\[torch\]'`"):
        Box(TASK.limits)


def test_the_images_are_those_of_the_other_task() -> None:
    """The same files, whether they are links here or what the links showed."""
    for name in ("digits.npz", "digits.py"):
        assert (FOLDER / name).read_bytes() == (FOLDER.parent / "digits_recipe" / name).read_bytes()


def test_a_copy_has_the_images_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may lie where there is no other task."""
    monkeypatch.chdir(tmp_path)
    copied = folders.copy("digits_torch", tmp_path / "mine")
    assert not [path for path in copied.rglob("*") if path.is_symlink()]
    assert (copied / "digits.npz").read_bytes() == (FOLDER / "digits.npz").read_bytes()


def test_the_seed_has_numbers_to_tune() -> None:
    """Sizes, rounds, rates."""
    assert len(template(TASK.seed).values) >= 6


LOOKING = """
import sys
from pathlib import Path

def found():
    seen = []
    for start in map(Path, (*sys.path, sys.prefix, ".", FOLDER)):
        for place in (start, *start.parents):
            for below in ("", "tasks", "evolve/_bundled/tasks"):
                for task in ("digits_torch", "digits_recipe"):
                    file = place / below / task / "digits.npz"
                    try:
                        file.read_bytes()
                        seen.append(str(file))
                    except OSError:
                        pass
    return seen
"""


@pytest.mark.skipif(not probe().means.namespaces, reason="what is not a program's is not hidden here")
def test_no_program_reads_the_labels() -> None:
    """Neither beside the task nor in the other one, where the file itself lies."""
    source = f"FOLDER = {str(FOLDER)!r}\n{LOOKING}"
    limits, program = replace(TASK.limits, preload=()), Program({"seed.py": source})
    with closing(Box(limits, means=probe().means)) as box, box.open(program, "seed", 60.0) as session:
        assert session.call("found") == []
    names: dict[str, Any] = {}
    exec(source, names)
    assert set(names["found"]()) >= {str(FOLDER / "digits.npz"), str(FOLDER.parent / "digits_recipe" / "digits.npz")}


@with_torch
def test_the_seed_learns_and_a_convolutional_network_learns_more(evaluated: Judged) -> None:
    """From as many samples."""
    seed, better = evaluated(SEED), evaluated(twin("honest/convolutions"))
    assert seed.evaluation.fitness is not None, seed.texts
    assert better.evaluation.fitness is not None, better.texts
    assert 0.8 < seed.evaluation.fitness < better.evaluation.fitness
    assert {found.evaluation.metrics["samples_served"] for found in (seed, better)} == {640.0}
    assert better.evaluation.metrics["gain_p"] < 0.05
    assert all(axis.low <= seed.evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)


@with_torch
def test_equal_seeds_train_equal_models(evaluated: Judged) -> None:
    """The same trial gets the same fitness, to the last digit."""
    first, again = evaluated(SEED), evaluated(SEED + "\n")
    assert first.evaluation.fitness == again.evaluation.fitness
    assert again.evaluation.metrics["gain"] == 0.0


@with_torch
@pytest.mark.parametrize("case", TASK.held_out, ids=lambda case: case.name)
def test_the_convolutional_network_is_no_worse_where_it_is_held_out(evaluated: Judged, case: Any) -> None:
    """So it can be promoted; on labels that mean nothing all are alike."""
    parameters = {**case.parameters, "folds": min(2, case.parameters["folds"])}
    better, seed = (evaluated(source, **parameters) for source in (twin("honest/convolutions"), SEED))
    assert better.evaluation.fitness is not None, better.texts
    assert better.evaluation.fitness >= (seed.evaluation.fitness or 0.0)


@with_torch
@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        pytest.param(twin("dishonest/by_what_else_is_asked"), Outcome.WRONG, id="by what else is asked"),
        pytest.param(TENSOR, Outcome.INVALID, id="a tensor"),
        pytest.param(MORE, Outcome.INVALID, id="more samples"),
        pytest.param(SEED.replace("HIDDEN = 24", "HIDDEN = 8000"), Outcome.INVALID, id="too large a model"),
    ],
)
def test_what_is_not_done_has_its_outcome(evaluated: Judged, source: str, outcome: Outcome) -> None:
    """As in any recipe."""
    found = evaluated(source)
    assert found.evaluation.outcome is outcome, found.texts
