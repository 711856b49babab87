"""Asking a model, reading its edit, and one repair round."""

import pytest
from written_scenes import (
    BROKEN_EDIT,
    EDIT,
    EDITED,
    LOST_EDIT,
    NO_OP,
    OTHER_EDIT,
    OTHER_EDITED,
    proposed,
    purposes,
)

from evolve.operators.written import Rewrite, WritingSettings
from evolve.types import Child, ModelDown, ModelError, ModelGone, Reply, Unaffordable

THOUGHT = "A smaller step near the end keeps what was found."


def rewrite(samples: int = 1, repair: int = 1) -> Rewrite:
    return Rewrite(WritingSettings(samples=samples, repair=repair))


def test_a_reply_that_can_be_used_is_a_child_with_its_hypothesis() -> None:
    children, model = proposed(rewrite(), EDIT)
    assert children == [Child(EDITED, THOUGHT)]
    assert purposes(model) == ["propose"]


@pytest.mark.parametrize(
    ("reply", "words"), [(LOST_EDIT, "size = 0.75"), (BROKEN_EDIT, "does not parse"), ("Looks fine to me.", "")]
)
def test_a_reply_that_cannot_be_used_goes_back_with_the_reason_and_the_answer_is_the_child(
    reply: str, words: str
) -> None:
    children, model = proposed(rewrite(), reply, EDIT)
    assert children == [Child(EDITED, THOUGHT)]
    assert purposes(model) == ["propose", "repair"]
    first, again = model.heard[0].prompt, model.heard[1].prompt
    assert again.messages[: len(first.messages)] == first.messages
    said, asked = again.messages[len(first.messages) :]
    assert (said.role, said.text, asked.role) == ("assistant", reply, "user")
    assert words in asked.text
    assert (again.temperature, again.effort, again.max_tokens) == (first.temperature, first.effort, first.max_tokens)


def test_what_the_repair_does_not_mend_is_a_child_without_a_program_that_says_why() -> None:
    (child,), model = proposed(rewrite(), LOST_EDIT, BROKEN_EDIT)
    assert child.program is None
    assert "does not parse" in child.thought
    assert purposes(model) == ["propose", "repair"]


def test_without_a_repair_round_the_reason_is_the_child() -> None:
    (child,), model = proposed(rewrite(repair=0), LOST_EDIT)
    assert child.program is None
    assert "size = 0.75" in child.thought
    assert purposes(model) == ["propose"]


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        NO_OP,
        Reply(EDIT[:90], finish="length"),
        Reply("", thinking="It thought for too long.", finish="length"),
        Reply("", finish="refused"),
        LOST_EDIT + "# and so on\n" * 10_000,
    ],
)
def test_a_refusal_a_reply_without_a_change_one_that_was_cut_and_an_endless_one_do_not_go_back(
    reply: str | Reply,
) -> None:
    (child,), model = proposed(rewrite(), reply)
    assert child.program is None
    assert child.thought
    assert purposes(model) == ["propose"]


def test_each_of_several_samples_has_its_own_child_and_its_own_repair() -> None:
    children, model = proposed(rewrite(samples=3), EDIT, LOST_EDIT, BROKEN_EDIT, OTHER_EDIT, LOST_EDIT)
    assert [child.program for child in children] == [EDITED, OTHER_EDITED, None]
    assert purposes(model) == ["propose", "repair", "repair"]
    assert [heard.samples for heard in model.heard] == [3, 1, 1]


def test_several_candidates_in_one_reply_are_several_children() -> None:
    children, _ = proposed(rewrite(), f"## Candidate 1\n\n{EDIT}\n## Candidate 2\n\n{OTHER_EDIT}")
    assert [child.program for child in children] == [EDITED, OTHER_EDITED]


def test_a_reply_of_which_one_candidate_can_be_used_does_not_go_back() -> None:
    """The other is a child that says why it is no program."""
    children, model = proposed(rewrite(), f"## Candidate 1\n\n{BROKEN_EDIT}\n## Candidate 2\n\n{OTHER_EDIT}")
    assert [child.program for child in children] == [None, OTHER_EDITED]
    assert "does not parse" in children[0].thought
    assert purposes(model) == ["propose"]


def test_samples_that_came_are_used_where_others_failed() -> None:
    children, _ = proposed(rewrite(samples=2), ModelError("it broke off"), EDIT)
    assert children == [Child(EDITED, THOUGHT)]


@pytest.mark.parametrize("error", [ModelError("empty"), ModelDown("refused"), ModelGone("401"), Unaffordable("spent")])
def test_a_step_without_any_answer_ends_with_the_models_error(error: ModelError) -> None:
    with pytest.raises(type(error), match=str(error)):
        proposed(rewrite(samples=2), error, error)


@pytest.mark.parametrize(
    "error", [ModelError("it broke off"), ModelDown("no route"), ModelGone("401"), Unaffordable("spent")]
)
def test_a_repair_that_fails_leaves_the_reason_of_the_first_reply(error: ModelError) -> None:
    (child,), _ = proposed(rewrite(), LOST_EDIT, error)
    assert child.program is None
    assert "size = 0.75" in child.thought
    assert str(error) in child.thought


@pytest.mark.parametrize("error", [ModelGone("401"), Unaffordable("spent")])
def test_a_repair_that_cannot_be_paid_costs_no_other_child(error: ModelError) -> None:
    """The other replies were paid for."""
    children, _ = proposed(rewrite(samples=2), LOST_EDIT, EDIT, error)
    assert [child.program for child in children] == [None, EDITED]


def test_how_a_model_is_asked_is_set_per_operator() -> None:
    settings = WritingSettings(temperature=0.7, effort="low", max_tokens=900)
    _, model = proposed(Rewrite(settings), EDIT)
    prompt = model.heard[0].prompt
    assert (prompt.temperature, prompt.effort, prompt.max_tokens) == (0.7, "low", 900)


def test_equal_steps_ask_alike() -> None:
    first, second = (proposed(rewrite(), EDIT)[1] for _ in range(2))
    assert first.heard == second.heard
