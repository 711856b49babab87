"""The package of docs/plugins.md: written as the page says, installed, checked and run by its author."""

import json
import re

import pytest

from tests.author import Author
from tests.pages import read_chapter

pytestmark = pytest.mark.integration

PAGE = read_chapter("plugins", "Write an evaluator plugin")


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Author:
    """With the page's files, installed."""
    author = Author(tmp_path_factory.mktemp("author"), "evolve-squeeze")
    author.write_files(PAGE)
    author.install()
    return author


def test_its_own_tests_pass(author: Author) -> None:
    """Warnings count."""
    assert " passed" in author.says("pytest", "-q", "-W", "error", "-p", "no:cacheprovider")


def test_it_keeps_the_contract(author: Author) -> None:
    """Nothing is skipped."""
    found = [json.loads(line) for line in author.evolve("plugin", "check", "squeeze", "--json").splitlines()]
    assert {finding["verdict"] for finding in found} == {"passed"}


@pytest.mark.slow
def test_its_task_passes_the_check(author: Author) -> None:
    """With the twins that it brings: the honest one passes, the cheats gain nothing."""
    told = author.evolve("task", "check", "tasks/prose")
    assert re.search(r"honest: lzma +passed +ok with bits per character", told)
    assert re.search(r"dishonest: keeps the texts to itself +passed +crashed", told)
    assert re.search(r"dishonest: forgets the end +passed +wrong", told)
    assert re.search(r"prose may be used: \d+ passed", told)


@pytest.mark.slow
def test_its_campaign_improves_on_the_seed(author: Author) -> None:
    """Within a hundred programs, by the operators that need no model."""
    lines = author.evolve("run", "tasks/prose", "--budget", "100programs", "--json").splitlines()
    first, *_, end = map(json.loads, lines)
    assert (end["reason"], end["best"]["fitness"] < first["fitness"] - 0.5) == ("budget", True)
