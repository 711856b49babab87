"""An engine in one environment, a task in another: judges and candidates of a task that names its Python run in that one."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import evolve.task
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.evaluation.provenance import environment
from evolve.sandbox.machine.probe import probe
from evolve.types import Outcome, TaskError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

ABOUT = """
def about():
    import importlib.util, sys
    found = [name for name in ("evolve", "numpy", "pydantic", "pluggy") if importlib.util.find_spec(name)]
    return {"python": sys.version.split()[0], "prefix": sys.prefix, "found": found}
"""
TASK = {
    "task.toml": 'schema = 1\ndeterministic = true\n[environment]\npython = "{python}"\n[[stages]]\nname = "evaluate"\nseconds = 20\n',
    "README.md": "Find the number.\n",
    "seed.py": f"def value():\n    return 5.0\n{ABOUT}",
    "evaluator.py": f"""from evolve import Candidate, Evaluation, Trial, evaluator
{ABOUT}

@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    with candidate.session() as session:
        value, theirs = session.call("value"), session.call("about")
    return Evaluation.ok(-abs(value - 7.0), artifacts={{"judge": about(), "candidate": theirs}})
""",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the standard library."""
    folder = tmp_path_factory.mktemp("environments") / "bare"
    venv.create(folder, symlinks=True, with_pip=False)
    return folder


def written(folder: Path, python: Path | str, **changes: str) -> Path:
    """The task's folder, with other texts for some of its files by their stem."""
    folder.mkdir(parents=True)
    for name, text in TASK.items():
        text = changes.get(name.partition(".")[0], text)
        (folder / name).write_text(text.replace("{python}", str(python)))
    return folder


def evaluated(folder: Path) -> tuple[Outcome, dict, str]:
    """The seed's outcome, its artifacts, and the environment that is stored with it."""
    task = evolve.task.load(folder)
    with contextlib.closing(LocalExecutor(task, 1, means=probe(task.python).means)) as executor:
        described = executor.describe()
        job = Job("0.0", "evaluate", files=task.seed.files)
        report = decode_report(executor.submit("0.0", encode_job(job)).result(60))
    assert described.environment == report.evaluation.environment
    texts = {name: report.texts[text] for name, text in report.evaluation.artifacts.items()}
    return report.evaluation.outcome, {name: json.loads(text) for name, text in texts.items()}, described.environment


def refused(folder: Path) -> str:
    """Why nothing can be evaluated."""
    with (
        pytest.raises(TaskError) as caught,
        contextlib.closing(LocalExecutor(evolve.task.load(folder), 1)) as executor,
    ):
        executor.describe()
    return str(caught.value)


def test_judge_and_candidate_run_where_the_task_says(bare: Path, tmp_path: Path) -> None:
    """And find there what is installed there: nothing of the engine's, but its package in the judge."""
    outcome, artifacts, described = evaluated(written(tmp_path / "number", bare / "bin" / "python"))
    version = ".".join(map(str, sys.version_info[:3]))
    assert outcome is Outcome.OK
    assert artifacts["judge"] == {"python": version, "prefix": str(bare), "found": ["evolve"]}
    assert artifacts["candidate"] == {"python": version, "prefix": str(bare), "found": []}
    assert described == f"python {version}"
    assert environment().startswith(f"python {version}, numpy ")


def test_a_campaign_runs_with_a_task_in_another_environment(bare: Path, tmp_path: Path) -> None:
    """From the command line to the environment that is shown with a score."""
    written(tmp_path / "number", "../environment/bin/python")
    (tmp_path / "environment").symlink_to(bare)

    def cli(*words: str) -> str:
        variables = {**os.environ, "EVOLVE_HOME": str(tmp_path / "home")}
        command = [sys.executable, "-m", "evolve", *words]
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "its budget is spent (15 programs evaluated" in cli("run", "./number", "--budget", "15programs")
    shown = re.search(r"^environment +(.+)$", cli("program", "show", "best"), re.MULTILINE)
    assert shown is not None
    assert shown[1] == f"python {'.'.join(map(str, sys.version_info[:3]))}"


def test_the_numpy_that_is_used_is_the_one_that_is_there(bare: Path, tmp_path: Path) -> None:
    """In judge and candidate alike, and the evaluation says which."""
    place = tmp_path / "environment"
    venv.create(place, symlinks=True, with_pip=False)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "numpy").mkdir()
    (site / "numpy" / "__init__.py").write_text("__version__ = '0.0.7'\n")
    about = "import numpy\ndef about():\n    return numpy.__version__\n"
    task = written(
        tmp_path / "number",
        place / "bin" / "python",
        seed=f"def value():\n    return 5.0\n{about}",
        evaluator=TASK["evaluator.py"].replace(ABOUT, about),
    )
    outcome, artifacts, described = evaluated(task)
    assert (outcome, artifacts) == (Outcome.OK, {"judge": "0.0.7", "candidate": "0.0.7"})
    assert described.endswith(", numpy 0.0.7")


def test_what_the_evaluator_needs_and_is_not_there_is_named(bare: Path, tmp_path: Path) -> None:
    """With the commands that install it where it is looked for."""
    python = bare / "bin" / "python"
    text = refused(written(tmp_path / "number", python, evaluator="import numpy\n" + TASK["evaluator.py"]))
    assert "does not load: ModuleNotFoundError: No module named 'numpy'" in text
    assert f"Try: install numpy for the Python that the task names (`{python} -m pip install numpy`" in text


def test_a_plugins_evaluator_needs_the_plugins_there(bare: Path, tmp_path: Path) -> None:
    """What is missing is named."""
    python = bare / "bin" / "python"
    toml = TASK["task.toml"].replace("deterministic", 'evaluator = { plugin = "kernel" }\ndeterministic')
    text = refused(written(tmp_path / "number", python, task=toml))
    assert (
        f"the evaluator of task 'number' is the plugin's 'kernel', and its Python, {python}, has no pluggy. Try: "
        in text
    )


def test_a_python_that_is_not_there_is_one_clear_error_of_the_command_line(tmp_path: Path) -> None:
    """No campaign is opened."""
    written(tmp_path / "number", "../gone/bin/python")
    done = subprocess.run(
        [sys.executable, "-m", "evolve", "run", "./number", "--budget", "3programs"],
        cwd=tmp_path,
        env={**os.environ, "EVOLVE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert re.fullmatch(
        r"evolve: error: the task's Python, '.*/gone/bin/python' .* cannot be run: No such file or directory\. Try: .*\n",
        done.stderr,
    )
    assert list((tmp_path / "home").rglob("*.db")) == []


def another_minor() -> str | None:
    """A Python of another minor version that works, on PATH or among pyenv's."""
    own = sys.version_info[:2]
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 20) if (3, minor) != own]
    kept = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    for python in [*filter(None, named), *map(str, kept)]:
        asked = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0 and (3, 11) <= tuple(map(int, asked.stdout.split())) != own:
            return python
    return None


def test_another_minor_version_judges_alike(tmp_path: Path) -> None:
    """Where there is one."""
    python = another_minor()
    if python is None:
        pytest.skip("no other Python from 3.11 on is installed here")
    outcome, artifacts, described = evaluated(written(tmp_path / "number", python))
    assert outcome is Outcome.OK
    assert artifacts["judge"]["python"] == artifacts["candidate"]["python"] != sys.version.split()[0]
    assert described.startswith(f"python {artifacts['judge']['python']}")
