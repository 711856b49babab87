"""Operators that ask a language model: requests, replies, one repair round, sizes of changes, lessons."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from language_model_scenes import (
    BROKEN_EDIT,
    EDIT,
    EDITED,
    FILE,
    LOST_EDIT,
    NO_OP,
    OTHER_EDIT,
    OTHER_EDITED,
    PROGRAM,
    REWRITTEN,
    SEED,
    proposed,
    purposes,
)
from pydantic import ValidationError

from evolve.operators import register_operators
from evolve.operators.language_model import (
    AskingSettings,
    ProgramWriter,
    Reflect,
    ReflectSettings,
    TokenLimits,
    WritingSettings,
    read_lessons,
)
from evolve.protocols import Operator
from evolve.testing import ScriptedModel, check_model_operator, rehearsed_step
from evolve.types import (
    Child,
    ConfigError,
    EditError,
    Lesson,
    ModelDown,
    ModelError,
    ModelGone,
    Program,
    Reply,
    Selection,
    Traits,
    Unaffordable,
)

FIX, CROSSOVER = Traits(needs_model=True, takes_failures=True), Traits(needs_model=True, parents=2)


def asked(operator: Operator, traits: Traits | None = None) -> str:
    """The last message of the prompt."""
    _, model = proposed(operator, EDIT, traits=traits)
    return model.heard[0].prompt.messages[-1].text


@pytest.mark.parametrize(
    ("make", "traits", "replies"),
    [
        (lambda: ProgramWriter("diff", WritingSettings()), Traits(needs_model=True), [EDIT, FILE]),
        (lambda: ProgramWriter("rewrite", WritingSettings()), Traits(needs_model=True), [EDIT, FILE]),
        (lambda: ProgramWriter("rewrite", WritingSettings(samples=3, repair=0)), Traits(needs_model=True), [FILE]),
        (lambda: ProgramWriter("crossover", WritingSettings()), CROSSOVER, [EDIT, FILE]),
        (lambda: ProgramWriter("fix", WritingSettings()), FIX, [EDIT, FILE]),
        (lambda: ProgramWriter("sample", WritingSettings()), Traits(needs_model=True), [EDIT, FILE]),
        (lambda: Reflect(ReflectSettings()), Traits(needs_model=True), ["- A lesson."]),
    ],
)
def test_it_keeps_the_promises_of_an_operator_that_needs_a_model(
    make: Callable[[], Operator], traits: Traits, replies: list[str]
) -> None:
    check_model_operator(make, [PROGRAM, Program({"search.py": SEED, "more.py": "LIMIT = 2\n"})], replies, traits)


def test_rewrite_asks_for_whole_files() -> None:
    assert "Then each file that changes, whole" in asked(ProgramWriter("rewrite", WritingSettings()))
    children, _ = proposed(ProgramWriter("rewrite", WritingSettings()), FILE)
    assert children == [Child(REWRITTEN, "Larger steps go farther.", call=0)]


def test_crossover_shows_both_parents_and_changes_the_first() -> None:
    (child,), model = proposed(ProgramWriter("crossover", WritingSettings()), EDIT, traits=CROSSOVER)
    text = model.heard[0].prompt.messages[-1].text
    assert "Make one program of program 1 and program 2" in text
    assert child.program == EDITED


def test_crossover_of_one_program_is_refused() -> None:
    with pytest.raises(EditError, match="a crossover is of two programs, and the selection has one"):
        proposed(ProgramWriter("crossover", WritingSettings()), EDIT)


def test_fix_shows_how_the_program_failed_and_mends_it() -> None:
    (child,), model = proposed(ProgramWriter("fix", WritingSettings()), EDIT, traits=FIX)
    text = model.heard[0].prompt.messages[-1].text
    assert "Program 2 failed." in text
    assert "ValueError: it failed in the rehearsal" in text
    assert child.program == EDITED


def test_fix_of_a_program_that_did_not_fail_is_refused() -> None:
    with pytest.raises(EditError, match="mends a program that failed, and the selection has none"):
        proposed(ProgramWriter("fix", WritingSettings()), EDIT)


@pytest.mark.parametrize(
    "operator", [ProgramWriter("diff", WritingSettings()), ProgramWriter("rewrite", WritingSettings())]
)
def test_without_a_parent_there_is_nothing_to_ask_about(operator: Operator) -> None:
    _, context = rehearsed_step(PROGRAM, model=ScriptedModel(EDIT))
    with pytest.raises(EditError, match="the selection has none"):
        operator.propose(Selection("written"), context)


def test_without_a_model_the_error_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="a model is needed"):
        ProgramWriter("diff", WritingSettings()).propose(*rehearsed_step(PROGRAM))


@pytest.mark.parametrize("wanted", [1, 2, 5])
def test_a_strategy_or_the_settings_may_want_several_answers(wanted: int) -> None:
    """The larger number counts."""
    model = ScriptedModel(*[EDIT] * 9)
    selection, context = rehearsed_step(PROGRAM, model=model)
    several = Selection(selection.operator, parents=selection.parents, samples=wanted)
    ProgramWriter("rewrite", WritingSettings(samples=2)).propose(several, context)
    assert model.heard[0].samples == max(wanted, 2)


@pytest.mark.parametrize("entry", [entry for entry in register_operators() if entry.needs_model], ids=lambda e: e.name)
@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"effort": "a b"}, {"max_tokens": -1}, {"colour": "red"}])
def test_settings_that_mean_nothing_are_refused(entry, wrong: dict[str, object]) -> None:
    assert entry.settings is not None
    with pytest.raises(ValidationError):
        entry.settings.model_validate(wrong)


THOUGHT = "A smaller step near the end keeps what was found."


def rewrite(samples: int = 1, repair: int = 1) -> ProgramWriter:
    return ProgramWriter("rewrite", WritingSettings(samples=samples, repair=repair))


def test_a_reply_that_can_be_used_is_a_child_with_its_hypothesis() -> None:
    children, model = proposed(rewrite(), EDIT)
    assert children == [Child(EDITED, THOUGHT, call=0)]
    assert purposes(model) == ["propose"]


@pytest.mark.parametrize(
    ("reply", "words"), [(LOST_EDIT, "size = 0.75"), (BROKEN_EDIT, "does not parse"), ("Looks fine to me.", "")]
)
def test_a_reply_that_cannot_be_used_goes_back_with_the_reason_and_the_answer_is_the_child(
    reply: str, words: str
) -> None:
    children, model = proposed(rewrite(), reply, EDIT)
    assert children == [Child(EDITED, THOUGHT, call=1)]
    assert purposes(model) == ["propose", "repair"]
    first, again = model.heard[0].prompt, model.heard[1].prompt
    assert again.messages[: len(first.messages)] == first.messages
    said, asked = again.messages[len(first.messages) :]
    assert (said.role, said.text, asked.role) == ("assistant", reply, "user")
    assert words in asked.text
    assert (again.temperature, again.effort, again.max_tokens) == (first.temperature, first.effort, first.max_tokens)


def test_what_the_repair_does_not_mend_is_a_child_without_a_program_that_says_why() -> None:
    (child,), model = proposed(rewrite(), LOST_EDIT, BROKEN_EDIT)
    assert (child.program, child.call, child.refusal) == (None, 1, "syntax_error")
    assert "does not parse" in child.thought
    assert purposes(model) == ["propose", "repair"]


def test_without_a_repair_round_the_reason_is_the_child() -> None:
    (child,), model = proposed(rewrite(repair=0), LOST_EDIT)
    assert (child.program, child.call, child.refusal) == (None, 0, "not_found")
    assert "size = 0.75" in child.thought
    assert purposes(model) == ["propose"]


@pytest.mark.parametrize(
    "reply",
    [
        NO_OP,
        Reply(EDIT[:90], finish="length"),
        Reply("", thinking="It thought for too long.", finish="length"),
        Reply("", finish="refused"),
        LOST_EDIT + "# and so on\n" * 10_000,
    ],
)
def test_a_refusal_by_the_server_a_no_op_a_cut_reply_and_an_endless_one_do_not_go_back(
    reply: str | Reply,
) -> None:
    (child,), model = proposed(rewrite(), reply)
    assert child.program is None
    assert child.thought
    assert purposes(model) == ["propose"]


def test_each_of_several_samples_has_its_own_child_and_its_own_repair() -> None:
    children, model = proposed(rewrite(samples=3), EDIT, LOST_EDIT, BROKEN_EDIT, OTHER_EDIT, LOST_EDIT)
    assert [child.program for child in children] == [EDITED, OTHER_EDITED, None]
    assert [child.call for child in children] == [0, 3, 4]
    assert purposes(model) == ["propose", "repair", "repair"]
    assert [heard.samples for heard in model.heard] == [3, 1, 1]


def test_samples_that_came_are_used_where_others_failed() -> None:
    children, _ = proposed(rewrite(samples=2), ModelError("it broke off"), EDIT)
    assert children == [Child(EDITED, THOUGHT, call=0)]


@pytest.mark.parametrize("error", [ModelError("empty"), ModelDown("refused"), ModelGone("401"), Unaffordable("spent")])
def test_a_step_without_any_answer_ends_with_the_models_error(error: ModelError) -> None:
    with pytest.raises(type(error), match=str(error)):
        proposed(rewrite(samples=2), error, error)


@pytest.mark.parametrize(
    "error", [ModelError("it broke off"), ModelDown("no route"), ModelGone("401"), Unaffordable("spent")]
)
def test_a_repair_that_fails_leaves_the_reason_of_the_first_reply(error: ModelError) -> None:
    (child,), _ = proposed(rewrite(), LOST_EDIT, error)
    assert (child.program, child.call, child.refusal) == (None, 0, "not_found")
    assert "size = 0.75" in child.thought
    assert str(error) in child.thought


@pytest.mark.parametrize("error", [ModelGone("401"), Unaffordable("spent")])
def test_a_repair_that_cannot_be_paid_costs_no_other_child(error: ModelError) -> None:
    """The other replies were paid for."""
    children, _ = proposed(rewrite(samples=2), LOST_EDIT, EDIT, error)
    assert [child.program for child in children] == [None, EDITED]


def test_how_a_model_is_asked_is_set_per_operator() -> None:
    settings = WritingSettings(temperature=0.7, effort="low", max_tokens=900)
    _, model = proposed(ProgramWriter("rewrite", settings), EDIT)
    prompt = model.heard[0].prompt
    assert (prompt.temperature, prompt.effort, prompt.max_tokens) == (0.7, "low", 900)


def test_equal_steps_ask_alike() -> None:
    first, second = (proposed(rewrite(), EDIT)[1] for _ in range(2))
    assert first.heard == second.heard


@pytest.mark.parametrize(
    ("settings", "context", "longest", "expected"),
    [
        ({}, 128_000, 16_000, TokenLimits(24_000, 16_000)),
        ({"tokens": 60_000}, 128_000, 16_000, TokenLimits(60_000, 16_000)),
        ({"max_tokens": 2_000}, 128_000, 16_000, TokenLimits(24_000, 2_000)),
        ({"max_tokens": 99_000}, 128_000, 16_000, TokenLimits(24_000, 16_000)),
        ({}, 32_768, 16_000, TokenLimits(16_768, 16_000)),
        ({"tokens": 60_000}, 8_192, 16_000, TokenLimits(4_096, 4_096)),
    ],
)
def test_room(settings: dict[str, int], context: int, longest: int, expected: TokenLimits) -> None:
    caller = ScriptedModel(context_tokens=context, max_tokens=longest).caller("propose")
    assert AskingSettings.model_validate(settings).limits(caller, 24_000) == expected


def reflected(model: ScriptedModel, *known: str, most: int = 5) -> list[Child]:
    selection, context = rehearsed_step(PROGRAM, model=model)
    context = replace(context, lessons=[Lesson(text, "reflect") for text in known])
    return list(Reflect(ReflectSettings(most=most)).propose(selection, context))


def test_the_items_of_the_reply_are_lessons_and_there_is_no_program() -> None:
    model = ScriptedModel("- Sort first.\n- Large steps\n  overshoot the end.\n")
    assert reflected(model) == [
        Child(None, "it wrote 2 lessons", ("Sort first.", "Large steps overshoot the end."), call=0)
    ]
    assert [heard.purpose for heard in model.heard] == ["reflect"]
    assert "at most 5" in model.heard[0].prompt.messages[-1].text


def test_no_more_lessons_than_are_wanted_are_written() -> None:
    (child,) = reflected(ScriptedModel("- one\n- two\n- three"), most=2)
    assert child == Child(None, "it wrote 2 lessons", ("one", "two"), call=0)


def test_what_is_known_is_not_written_again() -> None:
    (child,) = reflected(ScriptedModel("- Sort first!\n- sort later"), "sort first")
    assert child == Child(None, "it wrote 1 lesson", ("sort later",), call=0)


@pytest.mark.parametrize("reply", ["", "I see nothing to learn.", "-\n- \n"])
def test_a_reply_without_a_list_has_no_lesson(reply: str) -> None:
    assert reflected(ScriptedModel(reply)) == [Child(None, "its reply has no new lesson", call=0)]


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
    assert read_lessons(reply, []) == expected
