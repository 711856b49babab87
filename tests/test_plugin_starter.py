"""The package that `evolve plugin new` writes: installed as its author would, it passes its own tests and works from the command line."""

import json
import os

import pytest

from tests.author import Author

pytestmark = pytest.mark.integration

NAME = "first_try"


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """With the plugin written, by `evolve plugin new`, and installed."""
    author = Author(tmp_path_factory.mktemp("author"), "evolve-first-try")
    author.evolve("plugin", "new", NAME, folder=author.folder)
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
    assert [finding["about"] for finding in found] == ["the plugin", f"operator {NAME}"]


@pytest.mark.slow
def test_its_types_are_right(author: Author) -> None:
    """By mypy, strictly."""
    done = author.python(
        "-m", "mypy", "--strict", "--cache-dir", os.devnull, "-p", f"evolve_{NAME}", folder=author.package / "src"
    )
    assert done.returncode == 0, done.stdout


def test_its_operator_is_used_in_a_campaign(author: Author) -> None:
    """The campaign replays."""
    settings = ("--set", f'operators.names=["{NAME}", "tune_literals"]', "--workers", "1", "--budget", "30programs")
    *records, end = map(json.loads, author.evolve("run", "circle_packing", *settings, "--json").splitlines())
    assert (end["programs"], end["reason"]) == (30, "budget")
    assert {record["operator"] for record in records[1:]} >= {NAME, "tune_literals"}
    assert json.loads(author.evolve("campaign", "replay", "--json"))["equal"]
