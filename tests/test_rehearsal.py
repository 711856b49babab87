"""Fakes for tests: a model with a script, and a step for an operator."""

import pytest

from evolve.protocols import Caller
from evolve.testing import Heard, Rehearsal, ScriptedModel, rehearsed_step
from evolve.types import (
    ConfigError,
    Message,
    ModelDown,
    ModelError,
    Outcome,
    Program,
    Prompt,
    Propose,
    Reply,
    Section,
    Selection,
    Traits,
    Unaffordable,
)

PROMPT = Prompt((Message("user", (Section("task", "Find the best number."),)),))
PROGRAM = Program({"a.py": "x = 1\n", "b.py": "y = 2\n"})


def test_a_scripted_model_says_its_lines_in_order_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel("one", Reply("two", finish="length"), "three")
    caller: Caller = model.caller("propose")
    assert [reply.text for reply in caller.complete(PROMPT)] == ["one"]
    assert [(reply.text, reply.finish) for reply in model.caller("repair").complete(PROMPT, 2)] == [
        ("two", "length"),
        ("three", "stop"),
    ]
    assert model.heard == [Heard("propose", PROMPT, 1), Heard("repair", PROMPT, 2)]


def test_an_error_in_the_script_is_raised_where_there_is_no_other_answer() -> None:
    model = ScriptedModel(ModelError("broke off"), "one", ModelError("first"), Unaffordable("last"))
    assert [reply.text for reply in model.caller("propose").complete(PROMPT, 2)] == ["one"]
    with pytest.raises(Unaffordable, match="last"):
        model.caller("propose").complete(PROMPT, 2)


def test_a_script_that_is_at_its_end_fails() -> None:
    with pytest.raises(ModelError, match="at its end"):
        ScriptedModel().caller("propose").complete(PROMPT)


def test_texts_have_places_of_length_one_that_depend_on_them_alone() -> None:
    caller = ScriptedModel().caller("embed")
    first, again, other = caller.embed("a"), caller.embed("a"), caller.embed("b")
    assert first == again != other
    assert sum(value * value for value in first) == pytest.approx(1.0)


def test_a_step_has_a_parent_and_no_model_unless_there_is_one() -> None:
    selection, context = rehearsed_step(PROGRAM)
    assert selection.parents == (1,)
    assert context.history.program_id(1) == PROGRAM.id
    with pytest.raises(ConfigError, match="a model is needed"):
        context.model("propose")
    model = ScriptedModel(ModelDown("no route"))
    assert rehearsed_step(PROGRAM, model=model)[1].model("repair").name == "scripted"


def test_a_step_has_as_many_parents_as_the_operator_wants_of_programs_that_differ() -> None:
    selection, context = rehearsed_step(PROGRAM, traits=Traits(parents=3))
    programs = [context.history.program_id(record) for record in selection.parents]
    assert (len(set(programs)), programs[0]) == (3, PROGRAM.id)


def test_a_step_for_a_repair_has_a_failure_that_was_made_of_a_success() -> None:
    selection, context = rehearsed_step(PROGRAM, traits=Traits(takes_failures=True))
    (failure,) = selection.parents
    history = context.history
    assert (history.program_id(failure), history.outcome(failure)) == (PROGRAM.id, Outcome.CRASHED)
    assert history.text(history.record(failure).evaluation.feedback) == "ValueError: it failed in the rehearsal"
    (origin,) = history.parents(failure)
    assert history.fitness(origin) == 1.0


def test_any_program_may_be_ruled_out(rehearsal: Rehearsal) -> None:
    seed = rehearsal.task.seed.id
    assert rehearsal.quarantine(seed) == seed
    assert rehearsal.archive.best is None


def test_a_step_that_makes_notes_settles_as_a_note_about_its_parents(rehearsal: Rehearsal) -> None:
    rehearsal.needs["third"] = Traits(makes_notes=True)
    rehearsal.start(Propose(Selection("third", parents=(1,), notes={"plan": "Sort."})))
    rehearsal.finish()
    note = rehearsal.history.record(2)
    assert (note.origin.kind, note.program, note.evaluation.outcome) == ("note", None, Outcome.SCREENED)
    assert (note.origin.parents, note.origin.notes) == ((1,), {"plan": "Sort."})
    assert rehearsal.history.children(1) == []


@pytest.fixture
def rehearsal() -> Rehearsal:
    """An opened campaign: record 1 is the seed's."""
    campaign = Rehearsal()
    campaign.open()
    return campaign
