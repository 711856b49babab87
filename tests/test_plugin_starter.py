"""The package that `evolve plugin new` writes: installed as its author would, it passes its own tests and works from the command line."""

import json
import os

import pytest

from tests.author import Author

pytestmark = pytest.mark.integration

NAME = "first_try"
KINDS = ("--kind", "operator", "--kind", "strategy", "--kind", "evaluator", "--kind", "tracker")
SETTINGS = (
    "--strategy",
    NAME,
    "--set",
    f'operators.names=["{NAME}", "tune_literals"]',
    "--workers",
    "1",
    "--tracker",
    NAME,
)


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """With the plugin written, by `evolve plugin new`, and installed."""
    author = Author(tmp_path_factory.mktemp("author"), "evolve-first-try")
    author.evolve("plugin", "new", NAME, *KINDS, folder=author.folder)
    author.install()
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
        *(f"{kind} {NAME}" for kind in ("operator", "strategy", "evaluator", "tracker")),
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
    assert end["trackers"] == [f"{NAME}: {end['records']} records"]
    assert {record["operator"] for record in records[1:]} == {NAME, "tune_literals"}
    assert end["best"]["fitness"] < records[0]["fitness"]
    assert json.loads(author.evolve("campaign", "replay", NAME, "--json"))["equal"]
