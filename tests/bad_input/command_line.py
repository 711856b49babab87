"""What the tests of bad input share: a task, the command line, and the form that every error has."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from click.testing import Result

Call = Callable[..., Result]

TASK = {
    "task.toml": """schema = 1
deterministic = true
[fitness]
name = "nearness"
""",
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5.0\n",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    return Evaluation.ok(-abs(value - 7.0))
""",
}
ANSWER = "return Evaluation.ok(-abs(value - 7.0))"


def write(name: str, files: Mapping[str, str | None]) -> None:
    """Files of a task's folder; None removes one."""
    folder = Path("tasks") / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (folder / file).unlink(missing_ok=True)
        if text is not None:
            (folder / file).write_text(text)


def error_of(result: Result) -> str:
    """The one message of a command that failed, in the form that all have."""
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 1
    return checked(result.stderr)


def checked(stderr: str) -> str:
    assert stderr.startswith("evolve: error: ")
    assert stderr.count("\n") == 1
    assert stderr.count("Try: ") == 1
    assert "Traceback" not in stderr
    return stderr


def campaigns(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "archive" / "campaigns").glob("*"))


def process(*words: str, **options: object) -> "subprocess.Popen[str]":
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


MORE = ["--budget", "9programs"]
"""More of a campaign that is `finished`."""
