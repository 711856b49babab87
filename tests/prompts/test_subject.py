"""What a prompt is about."""

from dataclasses import replace

from prompt_scenes import NEAREST, SWEEP, Scene, failed, scored, tour_task, with_block

from evolve.campaign.history import Columns, Past
from evolve.prompts import build
from evolve.prompts.offspring import CHILDREN
from evolve.prompts.subject import RECENT, STEPS, Subject, effect
from evolve.types import Evaluation, Origin, Outcome, Program, ProgramId, Record, Selection


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
    assert about(scene, Selection("diff", parents=(4,))).steps == (2, 3, 4)
    assert about(scene, Selection("diff", parents=(13,))).steps == tuple(range(14 - STEPS, 14))
    assert about(scene, Selection("diff", parents=(1,))).steps == ()


def test_children_are_the_best_and_then_the_latest() -> None:
    """Each once, a bounded number."""
    scene = Scene()
    for number in range(30):
        scene.add(numbered(number), 5.0 + abs(number - 7), "diff", (1,))
    found = about(scene, Selection("diff", parents=(1,))).children
    assert found == (9, 10, 8, 11, 31, 30, 29, 28, 27, 26)
    assert len(found) == CHILDREN


def test_a_program_is_shown_once() -> None:
    """A parent is no inspiration, and two records of one program are one."""
    scene = Scene()
    for program in (NEAREST, SWEEP, NEAREST):
        scene.add(with_block(program), 5.0, "diff", (1,))
    scene.add(None, Evaluation.failed(Outcome.SCREENED, ""), "diff", (1,))
    selection = Selection("crossover", parents=(2, 4, 3), inspirations=(4, 3, 1, 1, 5))
    assert (about(scene, selection).partners, about(scene, selection).inspirations) == ((3,), (1,))


def test_a_reflection_is_about_the_latest_proposals() -> None:
    """And its parents are shown as others are."""
    scene = Scene()
    for number in range(RECENT + 5):
        scene.add(numbered(number), 5.0, "diff", (1,))
    found = about(scene, Selection("reflect", parents=(2,), inspirations=(3,)), reflects=True)
    assert (found.parent, found.partners, found.inspirations) == (0, (), (2, 3))
    assert found.recent == tuple(range(RECENT + 6, 6, -1))


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
    assert "Program 2: not judged." in text
    assert [word for word in ("4711", "SECRET", "secret") if word in text] == []


def test_a_step_that_wrote_lessons_is_none_of_the_proposals() -> None:
    """It made no program."""
    scene = Scene()
    scene.add(None, failed(Outcome.SCREENED, ""), "reflect", (1,), "it wrote 2 lessons")
    scene.add(numbered(1), 5.0, "diff", (1,))
    assert about(scene, Selection("diff", parents=(1,))).children == (3,)
    assert about(scene, Selection("reflect"), reflects=True).recent == (3,)


def test_few_children_that_were_never_judged_are_told() -> None:
    """They teach little."""
    scene = Scene()
    scene.add(numbered(0), failed(Outcome.CRASHED, ""), "diff", (1,))
    for _ in range(20):
        scene.add(None, failed(Outcome.SCREENED, ""), "diff", (1,), "the edit fits nowhere")
    assert about(scene, Selection("diff", parents=(1,))).children == (22, 21, 20, 2)


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
        told[name] = (effect(subject, 3, 2), effect(subject, 4, 2))
    assert told == {
        "noisy": ("-0.25, within the noise", ""),
        "exact": ("-0.25, better", ""),
        "unknown": ("-0.25, better", ""),
    }
