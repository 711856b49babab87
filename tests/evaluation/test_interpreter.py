"""The Python that a task names, and why one cannot be used."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.evaluation import spawner
from evolve.evaluation.spawner import check_python, worker_command, worker_environment
from evolve.types import TaskError

pytestmark = pytest.mark.integration

Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """An executable of these lines of shell, as a path."""

    def script(lines: str, first: str = "#!/bin/sh\n") -> str:
        path = tmp_path / "bin" / "python"
        path.parent.mkdir()
        path.write_text(first + lines)
        path.chmod(0o755)
        return str(path)

    return script


def why(python: str) -> str:
    """The error that a Python is refused with."""
    with pytest.raises(TaskError) as caught:
        check_python(python)
    text = str(caught.value)
    assert text.startswith(f"the task's Python, {python!r} ([environment] in task.toml), ")
    assert ". Try: " in text
    assert "\n" not in text
    return text


def test_a_python_that_can_be_used_passes() -> None:
    """The engine's own is one."""
    check_python(sys.executable)


@pytest.mark.parametrize("place", ["no-such-python-9", "/no/such/folder/bin/python", "/"])
def test_one_that_cannot_be_run_says_how_to_make_one(place: str) -> None:
    assert "uv venv --python 3.12 FOLDER" in why(place)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("echo 3.12", "does not answer as a Python does (exit code 0). Try: try it by hand"),
        ("echo 'no such version is set' >&2; exit 127", "(exit code 127: no such version is set)"),
        ("echo 'evolve asked: 3.12.1'; exit 1", "(exit code 1)"),
        ("echo 'evolve asked: 3.10.13'", "is Python 3.10.13, and workers need 3.11 or newer. Try: name a newer one"),
        ("echo 'evolve asked: 2.7.18'", "is Python 2.7.18, and workers need 3.11 or newer"),
    ],
)
def test_what_is_no_python_or_an_old_one_is_refused(script: Script, lines: str, reason: str) -> None:
    """With what it said last."""
    assert reason in why(script(lines))


def test_one_that_does_not_answer_is_not_waited_for(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended."""
    monkeypatch.setattr(spawner, "_ANSWER_SECONDS", 0.2)
    assert "has not answered within 0.2 seconds. Try: try it by hand" in why(script("exec sleep 60"))


def test_a_file_that_is_no_program_says_so(script: Script) -> None:
    """The system does not know what to do with it."""
    assert "cannot be run: Exec format error. Try: correct its path" in why(script("text", first=""))


def test_a_worker_elsewhere_has_the_package_alone() -> None:
    """The engine's own worker finds modules where the engine does."""
    environment = {"PYTHONPATH": "/engine/site-packages", "PATH": "/bin"}
    assert worker_environment("", environment) == environment
    assert worker_environment("/other/python", environment) == {"PATH": "/bin"}
    assert worker_command("", 7)[0] == sys.executable
    command = worker_command("/other/python", 7)
    assert (command[0], command[-2:]) == ("/other/python", ["7", str(Path(spawner.__file__).parents[1])])


def test_a_worker_imports_nothing_but_the_standard_library() -> None:
    """So that it runs in any Python that is new enough; numpy is imported when an array arrives."""
    program = "import sys, evolve.evaluation.worker; print(*{name.partition('.')[0] for name in sys.modules})"
    package = str(Path(spawner.__file__).parents[2])
    printed = subprocess.run(
        [sys.executable, "-S", "-P", "-c", program],
        env={"PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(printed.stdout.split()) - set(sys.stdlib_module_names) == {"__main__", "__mp_main__", "evolve"}
