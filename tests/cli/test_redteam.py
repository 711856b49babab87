"""`evolve sandbox redteam`: what was held, what was not, and why."""

import json
from collections.abc import Callable, Iterator

import pytest
from click.testing import Result as Ran

from evolve.cli import redteam
from evolve.sandbox import Status
from evolve.sandbox.corpus.case import Case
from evolve.sandbox.corpus.runner import Result
from evolve.sandbox.machine.offer import Finding
from evolve.sandbox.machine.probe import Found
from evolve.sandbox.means import Means

CASES = (
    Case("one.held", "try one thing", "", must="refused"),
    Case("one.open", "try another", "", must="refused", harmless=True),
    Case("two.quota", "fill the disk", "", must="refused", exempt=frozenset({"standard"})),
    Case("two.lacking", "compile", "", must="fails"),
)
FOUND = {
    "one.held": ("held", "nothing achieved"),
    "one.open": ("breach", "read the secret"),
    "two.quota": ("breach", "wrote 192 MiB"),
    "two.lacking": ("skipped", "there is no cc here"),
}


def result(case: Case) -> Result:
    """What becomes of a case here."""
    verdict, why = FOUND[case.name]
    return Result(case, verdict, why, None if verdict == "skipped" else Status.OK, 0.5)


STANDARD = Means(landlock=7, seccomp=True)
NO_NAMESPACES = Finding("namespaces", False, cause="the kernel refuses them", remedy="run as root")


class Team:
    """A box that reaches `standard`."""

    isolation = STANDARD.line

    def __init__(self, make: object) -> None:
        pass

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    attack = staticmethod(result)


@pytest.fixture(autouse=True)
def corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cases, and what becomes of them."""

    def bite(cases: tuple[Case, ...]) -> Iterator[Result]:
        return (result(case) for case in cases if case.harmless)

    monkeypatch.setenv("EVOLVE_SANDBOX", "reduced")  # whatever the tests themselves are promised
    monkeypatch.setattr(redteam, "CASES", CASES)
    monkeypatch.setattr(redteam, "RedTeam", Team)
    monkeypatch.setattr(redteam, "bite", bite)
    monkeypatch.setattr(redteam, "probe", lambda: Found("python", STANDARD, (NO_NAMESPACES,)))


def test_every_case_is_shown_and_what_was_not_held_is_named(call: Callable[..., Ran]) -> None:
    """A breach that the level does not exempt is exit code 1."""
    ran = call("sandbox", "redteam")
    assert ran.exit_code == 1
    assert [line.split() for line in ran.stdout.splitlines()] == [
        ["case", "tries", "must", "happen", "happened", "seconds", "verdict"],
        ["one.held", "try", "one", "thing", "refused", "nothing", "achieved", "0.50", "held"],
        ["one.open", "try", "another", "refused", "read", "the", "secret", "0.50", "breach"],
        ["two.quota", "fill", "the", "disk", "refused", "wrote", "192", "MiB", "0.50", "breach"],
        ["two.lacking", "compile", "fails", "there", "is", "no", "cc", "here", "0.50", "skipped"],
        [],
        ["breach", "one.open", "read", "the", "secret"],
        ["breach", "two.quota", "wrote", "192", "MiB", "(as", "documented", "for", "this", "level)"],
        [],
        ["skipped", "two.lacking", "there", "is", "no", "cc", "here"],
        [],
        [
            "standard:",
            "landlock",
            "7,",
            "seccomp,",
            "memory",
            "watched:",
            "cases",
            "4,",
            "breaches",
            "2,",
            "skipped",
            "1",
        ],
    ]


@pytest.mark.parametrize(
    ("words", "names", "code"),
    [
        (["one.held"], ["one.held"], 0),
        (["two.quota"], ["two.quota"], 0),
        (["--group", "two"], ["two.quota", "two.lacking"], 0),
        (["one.open", "--group", "two"], ["one.open", "two.quota", "two.lacking"], 1),
        (["--sandbox", "standard", "one.held"], ["one.held"], 0),
        (["--bite"], ["one.open"], 1),
        (["--bite", "one.open"], ["one.open"], 0),
    ],
)
def test_what_is_named_is_tried(
    call: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, words: list[str], names: list[str], code: int
) -> None:
    """Exit code 0 where nothing got out but what is documented; outside a box, where too few of all did not."""
    option = next(option for option in redteam.redteam.params if option.name == "groups")
    monkeypatch.setattr(option.type, "choices", ("one", "two"))
    ran = call("sandbox", "redteam", "--json", *words)
    found = json.loads(ran.stdout)
    assert ([line["name"] for line in found["results"]], ran.exit_code) == (names, code)


STRICT = Means(namespaces=True, landlock=7, seccomp=True)


@pytest.mark.parametrize(
    ("variable", "words", "code"),
    [
        ("", [], 0),
        ("standard", [], 0),
        ("strict", [], 1),
        ("standard", ["--sandbox", "strict"], 1),
        ("strict", ["--sandbox", "standard"], 0),
    ],
)
def test_where_strict_is_asked_for_nothing_may_be_left_out(
    call: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, variable: str, words: list[str], code: int
) -> None:
    """By the option or, without it, by the variable."""
    monkeypatch.setenv("EVOLVE_SANDBOX", variable)
    monkeypatch.setattr(redteam, "probe", lambda: Found("python", STRICT, ()))
    assert call("sandbox", "redteam", "two.lacking", *words).exit_code == code


@pytest.mark.parametrize(
    ("variable", "words", "message"),
    [
        ("strict", [], "isolated at least at 'strict', and this machine reaches 'standard'"),
        ("stric", [], "EVOLVE_SANDBOX is 'stric', which is no level"),
        ("none", [], "EVOLVE_SANDBOX is 'none', and then there is no box to attack"),
        (
            "standard",
            ["--pretend", "landlock=0"],
            "Do: leave --pretend out, or ask for less by --sandbox or EVOLVE_SANDBOX",
        ),
    ],
)
def test_the_variable_counts_as_for_every_command(
    call: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch, variable: str, words: list[str], message: str
) -> None:
    """A level that is not reached is an error with its remedy, and nothing is attacked."""
    monkeypatch.setenv("EVOLVE_SANDBOX", variable)
    ran = call("sandbox", "redteam", *words)
    assert (ran.exit_code, ran.stdout, message in ran.stderr) == (1, "", True), ran.stderr


def test_as_json_it_is_one_object(call: Callable[..., Ran]) -> None:
    """With the level, the number of cases, and each that was not held."""
    found = json.loads(call("sandbox", "redteam", "--json").stdout)
    assert list(found) == ["level", "isolation", "cases", "breaches", "skipped", "results"]
    assert (found["level"], found["isolation"], found["cases"]) == ("standard", Team.isolation, 4)
    assert found["breaches"] == [
        {"name": "one.open", "why": "read the secret", "exempt": False},
        {"name": "two.quota", "why": "wrote 192 MiB", "exempt": True},
    ]
    assert found["skipped"] == [{"name": "two.lacking", "why": "there is no cc here", "exempt": False}]
    assert found["results"][0] == {
        "name": "one.held",
        "tries": "try one thing",
        "must": "refused",
        "verdict": "held",
        "why": "nothing achieved",
        "status": "ok",
        "seconds": 0.5,
    }


def test_outside_a_box_it_counts_what_succeeds(call: Callable[..., Ran]) -> None:
    """Which is what is wanted there."""
    ran = call("sandbox", "redteam", "--bite")
    assert ran.stdout.splitlines()[1].split()[-1] == "bites"
    assert ran.stdout.splitlines()[-1] == "outside any box: 1 of 1 harmless cases succeed; of all, at least 20 must"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["one.helt"], 2, "there is no case 'one.helt'. Did you mean 'one.held'?"),
        (["--bite", "--sandbox", "strict"], 2, "--bite runs outside any box"),
        (
            ["--sandbox", "strict"],
            1,
            "candidates are to be isolated at least at 'strict', and this machine reaches 'standard': no namespaces (the kernel refuses them)",
        ),
        (["--group", "three"], 2, "'three' is not one of"),
    ],
)
def test_what_cannot_be_done_is_told(call: Callable[..., Ran], words: list[str], code: int, message: str) -> None:
    """With the remedy."""
    ran = call("sandbox", "redteam", *words)
    assert (ran.exit_code, message in ran.stderr) == (code, True), ran.stderr
