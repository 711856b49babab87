"""`evolve program export --paper` and `--patch` on the command line."""

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.publish.paper_campaigns import proven_campaign, task_folder

Call = Callable[..., Result]


@pytest.fixture
def proven(home: Path) -> Path:
    """A workspace with a campaign whose best is proven."""
    proven_campaign(home, folder=str(task_folder(home))).campaign.close()
    return home


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository that has what the search began with."""
    for key in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(key)
    for key in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{key}_NAME", "A")
        monkeypatch.setenv(f"GIT_{key}_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    place = tmp_path / "repository"
    place.mkdir()
    (place / "seed.py").write_text("def value():\n    return 5\n", "utf-8")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "begun")):
        subprocess.run(("git", *words), cwd=place, check=True, timeout=60)
    return place


@pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed (the extra `paper`)"
)
def test_a_paper_is_written(proven: Path, call: Call) -> None:
    """By default into a folder with the program's name; with --json one line tells of it."""
    result = call("program", "export", "number/best", "--paper")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "verified  value nearness 7.0" in result.output
    assert "next      python3 -I -S number-2-paper/verify.py" in result.output
    assert Path("number-2-paper/verify.py").is_file()
    found = json.loads(call("program", "export", "number/2", "--paper", "-o", "other", "--json").stdout)
    assert (found["program"], found["folder"], "verify.py" in found["files"]) == ("number/2", "other", True)


def test_a_patch_is_printed_and_nothing_else(proven: Path, call: Call, repository: Path) -> None:
    """So that `git am` can read it from a pipe."""
    result = call("program", "export", "number/2", "--patch", repository)
    assert (result.exit_code, result.stderr) == (0, "")
    subprocess.run(("git", "am", "-q"), cwd=repository, input=result.stdout_bytes, check=True, timeout=60)
    assert (repository / "seed.py").read_text("utf-8") == "def value():\n    return 7.0\n"


def test_a_patch_is_written_to_a_file(proven: Path, call: Call, repository: Path) -> None:
    """Which is never written over."""
    result = call("program", "export", "number/2", "--patch", repository, "-o", "x.patch")
    assert result.exit_code == 0
    assert "changes     seed.py" in result.output
    subprocess.run(("git", "apply", "--check", Path("x.patch").absolute()), cwd=repository, check=True, timeout=60)
    again = call("program", "export", "number/2", "--patch", repository, "-o", "x.patch")
    assert (again.exit_code, "x.patch is there already" in again.stderr) == (1, True)
    missing = call("program", "export", "number/2", "--patch", repository, "-o", "missing/x.patch")
    assert (missing.exit_code, "cannot be written" in missing.stderr) == (1, True)


def test_a_patch_in_json(proven: Path, call: Call, repository: Path) -> None:
    """One line; with the text where no file was named."""
    found = json.loads(call("program", "export", "number/2", "--patch", repository, "--json").stdout)
    assert (found["event"], found["files"], found["path"]) == ("patched", ["seed.py"], "")
    assert found["patch"].startswith("From ")
    found = json.loads(call("program", "export", "number/2", "--patch", repository, "--json", "-o", "x.patch").stdout)
    assert (found["path"], found["patch"]) == ("x.patch", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--paper", "--patch", "."), "--paper and --patch are two exports"),
        (("--paper", "--force"), "--force belongs to the export of a folder"),
        (("--patch", ".", "--task", "x"), "--task belongs to the export of a folder"),
    ],
)
def test_options_that_do_not_go_together(proven: Path, call: Call, words: tuple[str, ...], message: str) -> None:
    """With what to do."""
    result = call("program", "export", "number/2", *words)
    assert (result.exit_code, message in result.stderr) == (1, True)
