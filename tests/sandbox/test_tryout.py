"""Real candidates in a real box."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.sandbox.corpus.case import Case
from evolve.sandbox.corpus.runner import Result
from evolve.sandbox.machine import tryout
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Level


class Team:
    """Holds every case but one."""

    def __init__(self, breach: str) -> None:
        self.breach = breach
        self.attacked: list[str] = []

    def attack(self, case: Case) -> Result:
        """As told."""
        self.attacked.append(case.name)
        broken = case.name == self.breach
        return Result(case, "breach" if broken else "held", "it got out" if broken else "nothing achieved")


def tried(level: Level, breach: str = "") -> tuple[str, list[str]]:
    """What came of it, and which cases were tried."""
    team = Team(breach)
    return tryout._first_failure(team, level), team.attacked  # type: ignore[arg-type]


def test_the_cases_are_there_and_harmless_where_they_succeed() -> None:
    """They run where nobody knows yet whether there is a box."""
    assert {case.name for case in tryout.QUICK} == set(tryout.NAMES)
    assert [case.name for case in tryout.QUICK if case.dangerous or not case.harmless] == []


@pytest.mark.parametrize(("level", "count"), [(Level.STRICT, 13), (Level.STANDARD, 13), (Level.REDUCED, 1)])
def test_what_a_level_promises_is_tried(level: Level, count: int) -> None:
    """Below `standard` the right answer is all."""
    failed, attacked = tried(level)
    assert (failed, len(attacked), attacked[0]) == ("", count, "probe.answer")


def test_the_first_that_gets_out_is_named() -> None:
    """With what it achieved; no other is tried."""
    failed, attacked = tried(Level.STRICT, "net.tcp")
    assert failed == "the case net.tcp (speak to a server on this machine) is not held: it got out"
    assert attacked[-1] == "net.tcp"


def test_what_a_level_exempts_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its success there is documented."""
    exempt = tuple(replace(case, exempt=frozenset({"standard"})) for case in tryout.QUICK)
    monkeypatch.setattr(tryout, "QUICK", exempt)
    assert (len(tried(Level.STANDARD)[1]), len(tried(Level.STRICT)[1])) == (1, 13)


def test_the_plain_box_answers_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """On this machine, in a folder whose path is short enough for sockets."""
    folder = tmp_path_factory.mktemp("box")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert tryout.failure(PLAIN) == ""
    assert list(folder.iterdir()) == []


def test_a_temporary_folder_whose_path_is_too_long_for_sockets_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before a box is made."""
    folder = tmp_path / ("long" * 20)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert tryout.failure(PLAIN).startswith("the box does not start: no socket can have the path")
    assert list(folder.iterdir()) == []


def test_an_interpreter_that_there_is_not_is_a_failure() -> None:
    """With the box's own words, but for its remedy."""
    failed = tryout.failure(PLAIN, "/nowhere/python")
    assert failed.startswith("the box does not start: no candidate process")
    assert "Do:" not in failed


def test_a_plain_box_that_claims_to_be_strict_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the claim that counts."""
    plain = tryout.Box
    monkeypatch.setattr(tryout, "Box", lambda limits, python, means: plain(limits, python))
    failed = tryout.failure(Means(namespaces=True, landlock=7, seccomp=True))
    assert (failed.startswith("the case "), " is not held: " in failed) == (True, True)
