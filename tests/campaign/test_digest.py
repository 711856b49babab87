"""What two runs of the same search have in common."""

import pytest

from evolve.campaign.digest import without_circumstances
from evolve.types import Asked, Call, Import, Lesson, LessonWritten, Opened, ProgramId, Replied, Ruled

PROGRAM = ProgramId("p")


@pytest.mark.parametrize(
    ("event", "other"),
    [
        (
            Ruled("quarantine", PROGRAM, "person", "a cheat", "01"),
            Ruled("quarantine", PROGRAM, "person", "a cheat", "02"),
        ),
        (LessonWritten(Lesson("look", "person"), "01"), LessonWritten(Lesson("look", "person"), "02")),
        (Asked(1, Import(PROGRAM, 2, request="01"), 3), Asked(1, Import(PROGRAM, 2, request="02"), 3)),
    ],
)
def test_the_name_of_a_request_is_a_circumstance(event, other):
    """What was asked for is none."""
    assert without_circumstances(event) == without_circumstances(other)
    assert without_circumstances(event) is not None


def test_what_a_person_decided_is_no_circumstance():
    """Two campaigns with other rulings are others."""
    assert without_circumstances(Ruled("quarantine", PROGRAM, "person")) != without_circumstances(
        Ruled("release", PROGRAM, "person")
    )
    assert without_circumstances(Asked(1, Import(PROGRAM, 2), 3)) != without_circumstances(
        Asked(1, Import(PROGRAM, 1), 3)
    )


def test_what_a_call_took_of_a_server_is_a_circumstance():
    """And what that costs; what it has used of tokens is none."""
    call = Call("small", prompt_tokens=9, seconds=1.0, gpu_seconds=2.0, cost=0.3)
    assert without_circumstances(Replied(1, 0, call)) == without_circumstances(
        Replied(1, 0, Call("small", prompt_tokens=9))
    )
    assert without_circumstances(Replied(1, 0, call)) != without_circumstances(
        Replied(1, 0, Call("small", prompt_tokens=8))
    )


def opened(**member: object) -> Opened:
    """A campaign with one model."""
    values = {"name": "me", "kind": "openai", "settings": {"model": "m"}, "concurrency": 8, "max_tokens": 100, **member}
    return Opened("a", "task", "1", "", {"seed": 0, "models": {"choice": "bandit", "members": [values]}})


def test_where_the_answers_of_a_model_come_from_is_a_circumstance():
    """A server, or a recording of it; what it is called and how much it is let say is none."""
    recording = opened(kind="cassette", settings={"path": "a.jsonl"}, concurrency=1, prompt_price=2.0)
    assert without_circumstances(recording) == without_circumstances(opened())
    assert without_circumstances(opened(max_tokens=200)) != without_circumstances(opened())
    assert without_circumstances(opened(name="you")) != without_circumstances(opened())
