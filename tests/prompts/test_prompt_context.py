"""Records that a prompt may show, and which of them it does."""

from dataclasses import replace

from prompt_scenes import FROM_TWO_OPT, NEAREST, SWEEP, TWO_OPT, Scene, failed, grown, scored, tour_task, with_block

from evolve.campaign.history import Columns, Past
from evolve.prompts import build
from evolve.prompts.prompt_context import IDEAS, STEPS, Subject, VisibleRecords, format_effect
from evolve.prompts.sections import RULED_OUT
from evolve.types import Evaluation, Origin, Outcome, Program, ProgramId, Record, Selection


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
    """A step from it is none that can be shown."""
    scene = grown()
    told = text(scene, FROM_TWO_OPT, "diff", program(scene, 2))
    assert "## How program 5 came about" in text(scene)
    assert ("## How program 5 came about" in told, "Program 2" in told, "program 2" in told) == (False, False, False)


def test_a_reflection_does_not_tell_of_what_is_ruled_out() -> None:
    """What was made of it is told without a comparison."""
    scene = grown()
    told = text(scene, Selection("reflect", parents=(5,)), "reflect", program(scene, 2))
    assert ("The nearest point next" in told, "5.91" in told) == (False, False)
    assert "- Program 7, from 5 (`diff`)" in told


def test_what_is_ruled_out_inspires_nobody() -> None:
    """Even where it was selected."""
    scene = grown()
    context = replace(scene.context(), quarantined=frozenset([program(scene, 3)]))
    assert Subject(False, FROM_TWO_OPT, context, 24_000).others == ()


def rejudged() -> tuple[Scene, int]:
    """A newer version of the task has evaluated the program of record 5 again; the number of that record."""
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
    assert "- Program 4, from 2 (`rewrite`): “Turn parts around.” Result: 7.75." in told
    assert (
        "- Program 2, from 1 (`diff`): “Nearest first.” Result: evaluated by an earlier version of the evaluator"
        in told
    )


def test_a_reflection_is_about_what_this_version_has_judged() -> None:
    """What came before is history."""
    scene, again = rejudged()
    new = scene.add(with_block(SWEEP), 9.0, "diff", (again,))
    subject = Subject(True, Selection("reflect"), scene.context(), 24_000)
    assert subject.ideas == (new,)


def test_a_record_has_the_score_and_the_origin_that_may_be_told() -> None:
    scene, again = rejudged()
    known = VisibleRecords(scene.history, frozenset([program(scene, 1)]))
    assert [known.score(record) for record in (1, 3, again)] == [None, None, -7.75]
    assert [known.parent_of(record) for record in (1, 2, 3)] == [0, 0, 2]
    assert [known.proposal(record) for record in (3, again)] == [3, 3]


def test_that_programs_were_ruled_out_is_one_neutral_sentence() -> None:
    """Nobody learns from it how one was found out; where none was, it is not there."""
    scene = grown()
    assert RULED_OUT not in text(scene)
    assert text(scene, FROM_TWO_OPT, "diff", program(scene, 2), program(scene, 3)).count(RULED_OUT) == 1


def about(scene: Scene, selection: Selection, *, reflects: bool = False) -> Subject:
    """The subject of a selection."""
    return Subject(reflects, selection, scene.context(), 24_000)


def numbered(number: int) -> Program:
    """One of many programs."""
    return with_block(f"tour = {number}\n")


def test_the_lineage_is_the_last_steps_of_first_parents() -> None:
    """The first first; the seed is no step."""
    scene = Scene()
    for number in range(1, 13):
        scene.add(numbered(number), 10.0 - number, "diff", (number, 1))
    assert about(scene, Selection("diff", parents=(4,))).lineage == (2, 3, 4)
    assert about(scene, Selection("diff", parents=(13,))).lineage == tuple(range(14 - STEPS, 14))
    assert about(scene, Selection("diff", parents=(1,))).lineage == ()


def test_ideas_are_those_of_models_the_nearest_to_the_parent_first() -> None:
    """Its children, its siblings, then all others, the newest first of each; no step of its lineage."""
    scene = Scene()
    for parent in (1, 2, 2, 1, 3, 3):
        scene.add(numbered(len(scene.history)), 5.0, "diff", (parent,))
    scene.add(numbered(100), 5.0, "tune_literals", (3,))
    found = about(scene, Selection("diff", parents=(3,)))
    assert found.ideas == (7, 6, 4, 5)
    assert found.variations == (8,)
    for number in range(40):
        scene.add(numbered(200 + number), 5.0, "diff", (1,))
    assert len(about(scene, Selection("diff", parents=(3,))).ideas) == IDEAS


def test_the_best_program_is_shown_wherever_it_is_not_the_parent() -> None:
    """Other ancestors are not: their changes are in the lineage."""
    scene = Scene()
    for parent in (1, 2, 3, 1):
        scene.add(numbered(len(scene.history)), 5.0, "diff", (parent,))
    scene.best = 2
    found = about(scene, Selection("diff", parents=(4,), inspirations=(3, 5, 1)))
    assert found.others == (2, 5)
    scene.best = 4
    assert about(scene, Selection("diff", parents=(4,), inspirations=(3, 5))).others == (5,)


def test_fruitless_proposals_are_counted_since_the_best() -> None:
    scene = Scene()
    for number in range(6):
        scene.add(numbered(number), 5.0 - (number == 1), "diff", (1,))
    scene.add(numbered(10), 5.0, "tune_literals", (1,))
    assert about(scene, Selection("diff", parents=(1,))).fruitless == 0
    scene.best = 3
    assert about(scene, Selection("diff", parents=(1,))).fruitless == 4


def test_a_program_is_shown_once() -> None:
    """A parent is no other program, and two records of one program are one."""
    scene = Scene()
    for program in (NEAREST, SWEEP, NEAREST):
        scene.add(with_block(program), 5.0, "diff", ())
    scene.add(None, Evaluation.failed(Outcome.SCREENED, ""), "diff", (1,))
    selection = Selection("crossover", parents=(2, 4, 3), inspirations=(4, 3, 1, 1, 5))
    assert (about(scene, selection).partners, about(scene, selection).others) == ((3,), (1,))


def test_the_parents_of_a_reflection_are_shown_as_others_are() -> None:
    scene = Scene()
    for number in range(5):
        scene.add(numbered(number), 5.0, "diff", (1,))
    found = about(scene, Selection("reflect", parents=(2,), inspirations=(3,)), reflects=True)
    assert (found.parent, found.partners, found.others) == (0, (), (2, 3))
    assert found.ideas == (6, 5, 4, 3, 2)


class _Reader:
    """What is stored of a campaign of two records."""

    def __init__(self, records: list[Record], programs: dict[ProgramId, Program]) -> None:
        self._records, self._programs = records, programs

    def program(self, program: ProgramId) -> Program:
        return self._programs[program]

    def text(self, text: str) -> str:
        return f"SECRET {text}"

    def settled(self, record: int) -> "_Reader":
        self.record = self._records[record - 1]
        return self


def test_what_was_found_on_a_case_is_not_told() -> None:
    """Neither its score, nor its words, nor its numbers: the history does not have them."""
    task, program = tour_task(), with_block(NEAREST)
    found = scored(task, 4711.0, metrics={"secret": 4711.0}, feedback="held out", artifacts={"secret": "held out"})
    records = [
        Record(1, Origin("seed", 0), task.seed.id, scored(task, 15.6)),
        Record(2, Origin("measurement", 1, about=1, case="n=4711"), program.id, found),
    ]
    columns = Columns()
    for record in records:
        columns.append(record)
    past = Past(columns, _Reader(records, {task.seed.id: task.seed, program.id: program}), 2)  # type: ignore[arg-type]
    context = replace(Scene(task).context(), history=past)
    prompt = build("diff", Selection("diff", parents=(1,), inspirations=(2,)), context, tokens=24_000)
    text = "\n".join(message.text for message in prompt.messages)
    assert "Program 2: not evaluated." in text
    assert [word for word in ("4711", "SECRET", "secret") if word in text] == []


def test_a_step_that_wrote_lessons_is_none_of_the_ideas() -> None:
    """It made no program."""
    scene = Scene()
    scene.add(None, failed(Outcome.SCREENED, ""), "reflect", (1,), "it wrote 2 lessons")
    scene.add(numbered(1), 5.0, "diff", (1,))
    assert about(scene, Selection("diff", parents=(1,))).ideas == (3,)
    assert about(scene, Selection("reflect"), reflects=True).ideas == (3,)


def test_what_became_of_a_score_is_held_against_the_standard_errors_of_both() -> None:
    """Where the task is noisy and both errors are known; a failure has no score."""
    noisy = tour_task(deterministic=False)
    told = {}
    for name, task, error in (("noisy", noisy, 0.1), ("exact", tour_task(), 0.1), ("unknown", noisy, None)):
        scene = Scene(task)
        scene.add(numbered(1), scored(task, 5.0, standard_error=0.1), "diff", (1,))
        scene.add(numbered(2), scored(task, 4.75, standard_error=error), "diff", (2,))
        scene.add(numbered(3), failed(Outcome.CRASHED, ""), "diff", (2,))
        subject = about(scene, Selection("diff", parents=(2,)))
        told[name] = (format_effect(subject, 3, 2), format_effect(subject, 4, 2))
    assert told == {
        "noisy": ("-0.25, within the noise", ""),
        "exact": ("-0.25, better", ""),
        "unknown": ("-0.25, better", ""),
    }
