"""The package of docs/methods.md: written as the page says, installed, checked and compared by its author."""

import json
import re

import pytest

from tests.author import Author
from tests.pages import read_chapter

pytestmark = pytest.mark.integration

PAGE = read_chapter("methods", "Write a method")


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """With the page's files, installed."""
    author = Author(tmp_path_factory.mktemp("author"), "evolve-lexicase")
    author.write_files(PAGE)
    author.install()
    return author


def test_its_own_tests_pass(author: Author) -> None:
    """Warnings count."""
    assert " passed" in author.says("pytest", "-q", "-W", "error", "-p", "no:cacheprovider")


def test_it_keeps_the_contract(author: Author) -> None:
    """Nothing is skipped."""
    found = [json.loads(line) for line in author.evolve("plugin", "check", "lexicase", "--json").splitlines()]
    assert {finding["verdict"] for finding in found} == {"passed"}


@pytest.mark.slow
def test_it_is_compared_by_the_command_of_the_page_and_runs_as_a_preset(author: Author) -> None:
    """With fewer programs."""
    (command,) = re.findall(r"^evolve (compare .*)$", PAGE, re.MULTILINE)
    words = re.findall(r"'[^']*'|\S+", command.replace("200programs", "30programs").replace("--seeds 5", "--seeds 2"))
    told = author.evolve(*(word.strip("'") for word in words))
    assert "lexicase" in told
    assert "islands" in told
    free = ("--set", 'operators.names=["perturb_literals"]', "--budget", "20programs")
    first, *_, end = author.evolve("run", "tasks/waves.py", "--preset", "lexicase", *free, "--json").splitlines()
    assert json.loads(end)["reason"] == "budget"
    assert json.loads(end)["best"]["fitness"] < json.loads(first)["fitness"]
