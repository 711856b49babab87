"""The package that `evolve plugin new` writes: installed as its author would, it passes its own tests and works from the command line."""

import json
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

NAME = "first_try"
KINDS = ("--kind", "operator", "--kind", "strategy", "--kind", "evaluator")
SETTINGS = ("--strategy", NAME, "--set", f'operators.names=["{NAME}", "tune_literals"]', "--judges", "1")


@dataclass(frozen=True)
class Author:
    """A folder of an author's own with a virtual environment, in which the engine is installed and, in `package`, a plugin."""

    folder: Path

    @property
    def package(self) -> Path:
        """What `evolve plugin new` wrote."""
        return self.folder / "evolve-first-try"

    def python(self, *words: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """The environment's interpreter."""
        environment = {key: value for key, value in os.environ.items() if key not in ("EVOLVE_DEBUG", "PYTHONPATH")}
        return subprocess.run(
            [str(self.folder / "venv" / "bin" / "python"), *words],
            cwd=folder or self.package,
            env={**environment, "EVOLVE_HOME": str(self.folder / "home")},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def evolve(self, *words: str, folder: Path | None = None) -> str:
        """What a command that succeeds says."""
        done = self.python("-m", "evolve", *words, folder=folder)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """With the plugin written and installed, without a network: the environment borrows the packages of the tests' own."""
    author = Author(tmp_path_factory.mktemp("author"))
    venv = author.folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
    (site,) = venv.glob("lib/python*/site-packages")
    borrowed = sysconfig.get_path("purelib")
    (site / "borrowed.pth").write_text(f"import site; site.addsitedir({borrowed!r})\n")
    author.evolve("plugin", "new", NAME, *KINDS, folder=author.folder)
    pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    done = author.python(*pip, "--editable", ".")
    assert done.returncode == 0, done.stderr
    return author


def test_its_own_tests_pass(author: Author) -> None:
    """As the author runs them; warnings count."""
    done = author.python("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_it_keeps_the_contract(author: Author) -> None:
    """Every check passes, and none is skipped."""
    found = [json.loads(line) for line in author.evolve("plugin", "check", NAME, "--json").splitlines()]
    assert {finding["verdict"] for finding in found} == {"passed"}
    assert {finding["about"] for finding in found} == {
        "the plugin",
        *(f"{kind} {NAME}" for kind in ("operator", "strategy", "evaluator")),
    }


@pytest.mark.slow
def test_its_types_are_right(author: Author) -> None:
    """By mypy, strictly."""
    done = author.python(
        "-m", "mypy", "--strict", "--cache-dir", os.devnull, "-p", f"evolve_{NAME}", folder=author.package / "src"
    )
    assert done.returncode == 0, done.stdout


def test_its_task_is_run_by_its_evaluator_operator_and_strategy(author: Author) -> None:
    """And the campaign replays."""
    lines = author.evolve("run", NAME, *SETTINGS, "--budget", "30programs", "--json").splitlines()
    *records, end = map(json.loads, lines)
    assert (end["programs"], end["reason"]) == (30, "budget")
    assert {record["operator"] for record in records[1:]} == {NAME, "tune_literals"}
    assert end["best"]["fitness"] < records[0]["fitness"]
    assert json.loads(author.evolve("campaign", "replay", NAME, "--json"))["equal"]
