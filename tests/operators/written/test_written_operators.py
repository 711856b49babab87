"""`diff`, `rewrite`, `crossover` and `fix`: what each asks for, and the promises that all of them keep."""

import re
from collections.abc import Callable

import pytest
from pydantic import ValidationError
from written_scenes import EDIT, EDITED, FILE, PROGRAM, REWRITTEN, SEED, proposed

from evolve.operators import register_operators
from evolve.operators.written import (
    Crossover,
    Diff,
    DiffSettings,
    Fix,
    Reflect,
    ReflectSettings,
    Rewrite,
    WritingSettings,
)
from evolve.protocols import Operator
from evolve.testing import ScriptedModel, check_model_operator, rehearsed_step
from evolve.types import Child, ConfigError, EditError, Program, Selection, Traits

FIX, CROSSOVER = Traits(needs_model=True, takes_failures=True), Traits(needs_model=True, parents=2)


def asked(operator: Operator, traits: Traits | None = None) -> str:
    """The last message of the prompt."""
    _, model = proposed(operator, EDIT, traits=traits)
    return model.heard[0].prompt.messages[-1].text


@pytest.mark.parametrize(
    ("make", "traits", "replies"),
    [
        (lambda: Diff(DiffSettings()), Traits(needs_model=True), [EDIT, FILE]),
        (lambda: Rewrite(WritingSettings()), Traits(needs_model=True), [EDIT, FILE]),
        (lambda: Rewrite(WritingSettings(samples=3, repair=0)), Traits(needs_model=True), [FILE]),
        (lambda: Crossover(WritingSettings()), CROSSOVER, [EDIT, FILE]),
        (lambda: Fix(WritingSettings()), FIX, [EDIT, FILE]),
        (lambda: Reflect(ReflectSettings()), Traits(needs_model=True), ["- A lesson."]),
    ],
)
def test_it_keeps_the_promises_of_an_operator_that_needs_a_model(
    make: Callable[[], Operator], traits: Traits, replies: list[str]
) -> None:
    check_model_operator(make, [PROGRAM, Program({"search.py": SEED, "more.py": "LIMIT = 2\n"})], replies, traits)


def wishes(lines: int, seeds: range) -> set[str]:
    """What prompts of `diff` say of the size of a change, for a program of so many lines."""
    program, found = Program({"a.py": "".join(f"x{number} = {number}\n" for number in range(lines))}), set[str]()
    for seed in seeds:
        model = ScriptedModel("")
        Diff(DiffSettings(repair=0)).propose(*rehearsed_step(program, seed, model=model))
        (wanted,) = re.findall(r"so that it scores better\. (.*)", model.heard[0].prompt.messages[-1].text)
        found.add(wanted)
    return found


def test_diff_asks_for_a_change_of_the_size_that_is_drawn_at_each_step() -> None:
    found = wishes(60, range(40))
    assert "Choose a change that touches one line, of 60 that may change." in found
    assert len(found) > 5


def test_where_hardly_anything_is_written_no_size_is_wished_for() -> None:
    assert wishes(4, range(5)) == {"Make the change as large as your idea needs, and no larger."}


def test_rewrite_asks_for_whole_files() -> None:
    assert 'Answer in the form "files"' in asked(Rewrite(WritingSettings()))
    children, _ = proposed(Rewrite(WritingSettings()), FILE)
    assert children == [Child(REWRITTEN, "Larger steps go farther.")]


def test_crossover_shows_both_parents_and_changes_the_first() -> None:
    (child,), model = proposed(Crossover(WritingSettings()), EDIT, traits=CROSSOVER)
    text = model.heard[0].prompt.messages[-1].text
    assert "Make one program of program 1 and program 2" in text
    assert child.program == EDITED


def test_crossover_of_one_program_is_refused() -> None:
    with pytest.raises(EditError, match="makes one program of two, and the selection has 1"):
        proposed(Crossover(WritingSettings()), EDIT)


def test_fix_shows_how_the_program_failed_and_mends_it() -> None:
    (child,), model = proposed(Fix(WritingSettings()), EDIT, traits=FIX)
    text = model.heard[0].prompt.messages[-1].text
    assert "Program 2 failed." in text
    assert "ValueError: it failed in the rehearsal" in text
    assert child.program == EDITED


def test_fix_of_a_program_that_did_not_fail_is_refused() -> None:
    with pytest.raises(EditError, match="mends a program that failed, and the selection has none"):
        proposed(Fix(WritingSettings()), EDIT)


@pytest.mark.parametrize("operator", [Diff(DiffSettings()), Rewrite(WritingSettings())])
def test_without_a_parent_there_is_nothing_to_ask_about(operator: Operator) -> None:
    _, context = rehearsed_step(PROGRAM, model=ScriptedModel(EDIT))
    with pytest.raises(EditError, match="the selection has none"):
        operator.propose(Selection("written"), context)


def test_without_a_model_the_error_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="a model is needed"):
        Diff(DiffSettings()).propose(*rehearsed_step(PROGRAM))


@pytest.mark.parametrize("wanted", [1, 2, 5])
def test_a_strategy_or_the_settings_may_want_several_answers(wanted: int) -> None:
    """The larger number counts."""
    model = ScriptedModel(*[EDIT] * 9)
    selection, context = rehearsed_step(PROGRAM, model=model)
    several = Selection(selection.operator, parents=selection.parents, samples=wanted)
    Rewrite(WritingSettings(samples=2)).propose(several, context)
    assert model.heard[0].samples == max(wanted, 2)


@pytest.mark.parametrize("entry", [entry for entry in register_operators() if entry.needs_model], ids=lambda e: e.name)
@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"effort": "a b"}, {"max_tokens": -1}, {"colour": "red"}])
def test_settings_that_mean_nothing_are_refused(entry, wrong: dict[str, object]) -> None:
    assert entry.settings is not None
    with pytest.raises(ValidationError):
        entry.settings.model_validate(wrong)
