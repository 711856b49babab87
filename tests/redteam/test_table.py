"""`python tests/redteam`: the table and its exit code."""

import json
from dataclasses import replace
from importlib import import_module

import pytest

from evolve.sandbox.means import PLAIN
from tests.redteam.case import Case

pytestmark = pytest.mark.integration

table = import_module("tests.redteam.__main__")
OPEN = Case("one.open", "try", "def attack(told):\n    return ['read the secret']", harmless=True)
EXEMPT = replace(OPEN, name="one.documented", exempt=frozenset({"reduced"}))
LACKING = replace(OPEN, name="two.lacking", needs=frozenset({"no_such_program"}))
HELD = replace(OPEN, name="two.held", source="def attack(told):\n    return []")


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cases, and a machine with nothing but the plain box."""
    monkeypatch.delenv("EVOLVE_SANDBOX", raising=False)
    monkeypatch.setattr(table, "CASES", (OPEN, EXEMPT, LACKING, HELD))
    monkeypatch.setattr(table, "levels", lambda landlock, best: [PLAIN])


@pytest.mark.parametrize(
    ("words", "variable", "code"),
    [
        ([], "", 1),
        (["one.open"], "", 1),
        (["one.documented"], "", 0),
        (["two"], "", 0),
        (["two"], "strict", 1),
        (["two.held"], "strict", 0),
    ],
)
def test_a_breach_that_is_not_documented_is_exit_code_1(
    words: list[str], variable: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `strict` a case that could not be tried is one, too."""
    monkeypatch.setenv("EVOLVE_SANDBOX", variable)
    assert table.main(words) == code


def test_each_case_is_shown_and_what_was_not_held_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason."""
    table.main([])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[-1] for line in lines[1:5]] == ["breach", "breach", "skipped", "held"]
    assert lines[6] == ["breach", "one.open", "read", "the", "secret"]
    assert lines[7][-5:] == ["(as", "documented", "for", "this", "level)"]
    assert lines[8][:2] == ["skipped", "two.lacking"]
    assert lines[10][-9:] == ["cases", "4,", "breaches", "2,", "of", "them", "documented", "1,", "skipped", "1"][-9:]


def test_as_json_it_is_one_object_for_each_level(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reasons by the names of the cases."""
    table.main(["one", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "isolation": PLAIN.line,
        "cases": 2,
        "exempt": ["one.documented"],
        "breach": {"one.open": "read the secret", "one.documented": "read the secret"},
        "skipped": {},
    }


def test_outside_a_box_too_few_that_succeed_are_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Of all cases; of those that are named, any number will do."""
    assert (table.main(["--bite"]), table.main(["--bite", "one"])) == (1, 0)
    assert "outside any box: 2 of 2 harmless cases succeed" in capsys.readouterr().out


def test_a_name_that_is_none_is_an_error() -> None:
    """Nothing is attacked."""
    with pytest.raises(SystemExit):
        table.main(["one.opem"])
