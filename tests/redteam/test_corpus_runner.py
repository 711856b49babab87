"""How the runner judges a hostile program: by what it says, by how it ended, and by what the host and the next candidate say."""

import os
from collections.abc import Iterator
from typing import ClassVar

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.session import Session
from evolve.sandbox.status import Status
from evolve.types import Limits, Program, SandboxError
from tests.redteam.case import Case
from tests.redteam.descendants import descendants
from tests.redteam.runner import LIMITS, RedTeam, missing

pytestmark = pytest.mark.integration

_HELD = "def attack(told):\n    return []\n"


def case(source: str = _HELD, **fields: object) -> Case:
    """One with little time."""
    return Case("test.case", "try", source, **{"seconds": 2.0, **fields})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def team() -> Iterator[RedTeam]:
    """With a box that nothing but a process of its own keeps safe: what breaks it is harmless here."""
    with RedTeam(plain_box) as team:
        yield team


def plain_box(limits: Limits) -> Box:
    """Whatever the machine could do."""
    return Box(Limits(memory=LIMITS.memory, log=1 << 10))


@pytest.mark.parametrize(
    ("tried", "why"),
    [
        (case("def attack(told):\n    return ['read it', 'wrote it']"), "read it; wrote it"),
        (case("def attack(told):\n    return ['not boxed']"), "it is not boxed, so it was not tried"),
        (case("def attack(told):\n    return 1.5"), "its answer arrived as 1.5"),
        (case("def attack(told):\n    return 1 / 0"), "it ended as error: ZeroDivisionError: division by zero"),
        (case(ends=frozenset({Status.TIMEOUT})), "it ended as ok: nothing"),
        (case(answer="1.5"), "its answer arrived as []"),
        (case(lasts=60.0), "its 60 s were measured as 0.0"),
        (case(within=0.0), "which is more than 0"),
        (case(after="def attack(told):\n    return ['a file']"), "the program after it: a file"),
        (case(after="def attack(told):\n    exit(1)"), "the program after it ended as no_result"),
        (
            case(
                "def attack(told):\n    with open(told['grader'], 'w') as file:\n        file.write('')\n    return []"
            ),
            "grader.py: its content and its time changed",
        ),
        (
            case(
                "import os\ndef attack(told):\n    os.kill(os.getppid(), 9)\n    return []",
                ends=frozenset(Status) - {Status.BROKEN},
            ),
            "it ended as broken",
        ),
    ],
)
def test_a_breach_says_why(team: RedTeam, tried: Case, why: str) -> None:
    """And the next case is not touched by it."""
    result = team.attack(tried)
    assert (result.verdict, why in result.why) == ("breach", True), result.why
    assert team.attack(case()).verdict == "held"


def test_an_attack_without_success_is_held(team: RedTeam) -> None:
    """With how it ended."""
    result = team.attack(case())
    assert (result.verdict, result.why, result.status) == ("held", "nothing achieved", Status.OK)


def test_an_end_that_was_expected_is_held(team: RedTeam) -> None:
    """With the judge's words for it."""
    result = team.attack(case("def attack(told):\n    exit(3)", ends=frozenset({Status.NO_RESULT})))
    assert (result.verdict, result.status) == ("held", Status.NO_RESULT)
    assert "sys.exit(3)" in result.why


def test_what_needs_what_is_not_here_is_skipped(team: RedTeam) -> None:
    """With what it lacks."""
    result = team.attack(case(needs=frozenset({"sh", "json", "no_such_program"})))
    assert (result.verdict, result.why, result.status) == ("skipped", "there is no no_such_program here", None)
    assert missing(case(needs=frozenset({"sh", "json"}))) == []


class LeakingBox(Box):
    """Every session of an attack leaves a process behind."""

    def open(self, program: Program, entry: str, seconds: float) -> Session:
        """A session as always."""
        if entry == "attack":
            os.posix_spawnp("sleep", ["sleep", "60"], os.environ)
        return super().open(program, entry, seconds)


def test_a_process_that_is_left_is_a_breach_and_is_ended() -> None:
    """By whomever it was started."""
    before = descendants()
    with RedTeam(lambda limits: LeakingBox(limits)) as team:
        result = team.attack(case())
    assert (result.verdict, result.why) == ("breach", "processes left: 1")
    assert descendants() == before


class ForgetfulBox(Box):
    """Its candidates do not get what they should."""

    def open(self, program: Program, entry: str, seconds: float) -> Session:
        """A session with another program."""
        files = {name: text.replace("42", "43") for name, text in program.files.items()}
        return super().open(Program(files), entry, seconds)


def test_a_next_candidate_that_gets_another_answer_is_a_breach() -> None:
    """Whatever the attack says."""
    with RedTeam(lambda limits: ForgetfulBox(limits)) as team:
        result = team.attack(case())
    assert (result.verdict, result.why) == ("breach", "the next candidate got 43")


class OpeningBox(Box):
    """It opens a file for every attack, and never closes it."""

    held: ClassVar[list[int]] = []

    def open(self, program: Program, entry: str, seconds: float) -> Session:
        """A session as always."""
        if entry == "attack":
            self.held.append(os.dup(0))
        return super().open(program, entry, seconds)


def test_a_file_that_the_judge_keeps_open_is_a_breach() -> None:
    """A candidate could exhaust them."""
    with RedTeam(lambda limits: OpeningBox(limits)) as team:
        result = team.attack(case())
    os.close(OpeningBox.held.pop())
    assert (result.verdict, result.why) == ("breach", "files left open: 1")


def test_a_box_that_cannot_be_made_leaves_nothing() -> None:
    """Neither processes nor variables."""

    def refuse(limits: Limits) -> Box:
        raise SandboxError("no box today")

    before = descendants(), dict(os.environ)
    with pytest.raises(SandboxError, match="no box today"), RedTeam(refuse):
        pass
    assert (descendants(), dict(os.environ)) == before
