"""`reflect`: lessons from a reply."""

from dataclasses import replace

import pytest
from written_scenes import PROGRAM

from evolve.operators.written import Reflect, ReflectSettings
from evolve.operators.written.reflect import lessons
from evolve.testing import ScriptedModel, rehearsed_step
from evolve.types import Child, Lesson, ModelDown, ModelError


def reflected(model: ScriptedModel, *known: str, most: int = 5) -> list[Child]:
    selection, context = rehearsed_step(PROGRAM, model=model)
    context = replace(context, lessons=[Lesson(text, "reflect") for text in known])
    return list(Reflect(ReflectSettings(most=most)).propose(selection, context))


def test_the_items_of_the_reply_are_lessons_and_there_is_no_program() -> None:
    model = ScriptedModel("- Sort first.\n- Large steps\n  overshoot the end.\n")
    assert reflected(model) == [Child(None, "it wrote 2 lessons", ("Sort first.", "Large steps overshoot the end."))]
    assert [heard.purpose for heard in model.heard] == ["reflect"]
    assert "at most 5" in model.heard[0].prompt.messages[-1].text


def test_no_more_lessons_than_are_wanted_are_written() -> None:
    (child,) = reflected(ScriptedModel("- one\n- two\n- three"), most=2)
    assert child == Child(None, "it wrote 2 lessons", ("one", "two"))


def test_what_is_known_is_not_written_again() -> None:
    (child,) = reflected(ScriptedModel("- Sort first!\n- sort later"), "sort first")
    assert child == Child(None, "it wrote 1 lesson", ("sort later",))


@pytest.mark.parametrize("reply", ["", "I see nothing to learn.", "-\n- \n"])
def test_a_reply_without_a_list_has_no_lesson(reply: str) -> None:
    assert reflected(ScriptedModel(reply)) == [Child(None, "its reply has no new lesson")]


def test_a_call_that_fails_is_the_models_error() -> None:
    error: ModelError = ModelDown("no route")
    with pytest.raises(ModelDown):
        reflected(ScriptedModel(error))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("1. first\n2) second\n\nThat is all.", ["first", "second"]),
        ("* star\n• dot\n  goes on", ["star", "dot goes on"]),
        ("Lessons:\n- a\n\n- a\n- A.", ["a"]),
        ("- " + "long " * 200, ["long " * 99 + "l ..."]),
        ("-5 is no item", []),
    ],
)
def test_lessons_of_a_reply(reply: str, expected: list[str]) -> None:
    assert lessons(reply, []) == expected
