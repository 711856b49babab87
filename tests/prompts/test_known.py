"""What is told of programs that were ruled out, and of those that an earlier version of the task has judged."""

from dataclasses import replace

from prompt_scenes import FROM_TWO_OPT, NEAREST, SWEEP, TWO_OPT, Scene, grown, scored, with_block

from evolve.prompts import build
from evolve.prompts.known import Known
from evolve.prompts.subject import Subject
from evolve.prompts.told import RULED_OUT
from evolve.types import Origin, ProgramId, Record, Selection


def text(scene: Scene, selection: Selection = FROM_TWO_OPT, kind: str = "diff", *quarantined: ProgramId) -> str:
    """The whole prompt of a selection."""
    context = replace(scene.context(), quarantined=frozenset(quarantined))
    return "\n".join(message.text for message in build(kind, selection, context, tokens=24_000).messages)


def program(scene: Scene, record: int) -> ProgramId:
    """The program of a record."""
    found = scene.history.program_id(record)
    assert found is not None
    return found


def test_a_child_that_is_ruled_out_is_not_among_what_was_tried() -> None:
    """Neither its score nor its thought: it would be an advertisement for what made it."""
    scene = grown()
    cheat = scene.add(with_block("tour = 'cheat'\n"), 0.0001, "diff", (5,), "Read the answer from the judge.")
    assert "Read the answer" in text(scene)
    told = text(scene, FROM_TWO_OPT, "diff", program(scene, cheat))
    assert ("Read the answer" in told, "0.0001" in told, f"Program {cheat}" in told) == (False, False, False)
    assert told.replace(f"{RULED_OUT}\n", "") == text(grown())


def test_a_lineage_begins_after_an_ancestor_that_is_ruled_out() -> None:
    """And so do the lines that were taken out on the way."""
    scene = grown()
    told = text(scene, FROM_TWO_OPT, "diff", program(scene, 2))
    assert "## How program 5 came about" in text(scene)
    assert ("## How program 5 came about" in told, "Program 2" in told, "program 2" in told) == (False, False, False)


def test_a_reflection_does_not_tell_of_what_is_ruled_out() -> None:
    """What was made of it is told without a comparison."""
    scene = grown()
    told = text(scene, Selection("reflect", parents=(5,)), "reflect", program(scene, 2))
    assert ("The nearest point next" in told, "5.91" in told) == (False, False)
    assert "- Program 5 by `diff`: score 4.987" in told


def test_what_is_ruled_out_inspires_nobody() -> None:
    """Even where it was selected."""
    scene = grown()
    context = replace(scene.context(), quarantined=frozenset([program(scene, 3)]))
    assert Subject(False, FROM_TWO_OPT, context, 24_000).inspirations == (2,)


def rejudged() -> tuple[Scene, int]:
    """A newer version of the task has judged the program of record 5 again; the number of that record."""
    scene = Scene()
    scene.add(with_block(NEAREST), 5.5, "diff", (1,), "Nearest first.")
    scene.add(with_block(TWO_OPT), 4.25, "rewrite", (2,), "Turn parts around.")
    scene.history.since = 3
    origin = Origin("measurement", 9, about=3, why="newer version of the task", parents=(2,))
    again = Record(4, origin, with_block(TWO_OPT).id, scored(scene.task, 7.75))
    scene.history.records.append(again)
    return scene, again.id


def test_scores_of_an_earlier_version_of_the_task_are_not_told() -> None:
    """They do not compare. The steps are told all the same, with who made them and why."""
    scene, again = rejudged()
    told = text(scene, Selection("diff", parents=(again,)))
    assert ("4.25" in told, "5.5" in told, "15.63" in told) == (False, False, False)
    assert "- Program 4, of program 2 by `rewrite`: score 7.75. Thought: “Turn parts around.”" in told
    assert "- Program 2, of program 1 by `diff`: judged by an earlier version of the evaluator" in told


def test_a_reflection_is_about_what_this_version_has_judged() -> None:
    """What came before is history."""
    scene, again = rejudged()
    new = scene.add(with_block(SWEEP), 9.0, "diff", (again,))
    subject = Subject(True, Selection("reflect"), scene.context(), 24_000)
    assert subject.recent == (new,)


def test_a_record_has_the_score_and_the_origin_that_may_be_told() -> None:
    scene, again = rejudged()
    known = Known(scene.history, frozenset([program(scene, 1)]))
    assert [known.score(record) for record in (1, 3, again)] == [None, None, -7.75]
    assert [known.made_from(record) for record in (1, 2, 3)] == [0, 0, 2]
    assert [known.proposal(record) for record in (3, again)] == [3, 3]


def test_that_programs_were_ruled_out_is_one_neutral_sentence() -> None:
    """Nobody learns from it how one was found out; where none was, it is not there."""
    scene = grown()
    assert RULED_OUT not in text(scene)
    assert text(scene, FROM_TWO_OPT, "diff", program(scene, 2), program(scene, 3)).count(RULED_OUT) == 1
