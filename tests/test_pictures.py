"""The task's own picture of a result, drawn by a judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve import task as tasks
from evolve.campaign import Campaign
from evolve.pictures import drawable, drawing_of, picture
from evolve.sandbox.means import PLAIN
from evolve.types import ConfigError, Outcome, TaskError
from tests.written import Written

pytestmark = pytest.mark.integration

FILES = {
    "task.toml": 'schema = 1\ndeterministic = true\n[[stages]]\nname = "evaluate"\nseconds = 5\n',
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5\n",
    "evaluator.py": """from evolve import Evaluation, evaluator


@evaluator
def evaluate(candidate, trial):
    return Evaluation.ok(candidate.call("value"))
""",
}
DRAWS = """

@evaluate.draw
def draw(artifacts, trial):
    return f"<svg><title>{10 // artifacts['value']}</title></svg>"
"""


def folder(home: Path, evaluator: str) -> Path:
    """A task's folder."""
    place = home / "number"
    place.mkdir()
    for name, text in FILES.items():
        (place / name).write_text(text)
    (place / "evaluator.py").write_text(evaluator)
    return place


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    """Record 1 with the value 5, its certificate, one with the value 0, a failure."""
    task = tasks.load(folder(tmp_path, FILES["evaluator.py"] + DRAWS))
    written = Written(tmp_path, task)
    with written.campaign.log.transaction():
        five, zero = written.campaign.log.put_text("5"), written.campaign.log.put_text("0")
    written.seed(5.0, artifacts={"value": five})
    written.certificate(1, 5.0)
    written.proposal(6.0, artifacts={"value": zero})
    written.failure(Outcome.CRASHED, "no")
    with written.campaign:
        yield written


def drawn(campaign: Campaign, record: int) -> str:
    return picture(campaign.task, drawing_of(campaign, record), PLAIN)


def test_a_picture_is_drawn_from_the_artifacts_in_the_log(written: Written) -> None:
    """For a certificate, that of the program which it proves."""
    assert drawable(written.task, PLAIN)
    assert drawn(written.campaign, 1) == "<svg><title>2</title></svg>"
    assert drawn(written.campaign, 2) == "<svg><title>2</title></svg>"


def test_a_picture_that_fails_is_an_error(written: Written) -> None:
    """So is one of a record that left nothing."""
    with pytest.raises(TaskError, match=r"the picture of number/3 failed: .*mend @evaluate.draw"):
        drawn(written.campaign, 3)
    with pytest.raises(ConfigError, match=r"number/4 has no artifacts to draw \(crashed\)"):
        drawn(written.campaign, 4)


def test_a_task_may_draw_no_pictures(tmp_path: Path) -> None:
    """It is asked before a record is."""
    task = tasks.load(folder(tmp_path, FILES["evaluator.py"]))
    assert not drawable(task, PLAIN)
