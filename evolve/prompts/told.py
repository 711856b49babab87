"""The sections that tell of a selection: what is known of the parent, of what was made of it, and of others.

Invariant: pieces are whole programs, steps, lines and texts; every word of a program, of an evaluator or of a model is quoted."""

import functools
from collections.abc import Callable, Mapping

from evolve.prompts import findings, removed
from evolve.prompts.changeable import places
from evolve.prompts.control import broken
from evolve.prompts.endings import ended, reason
from evolve.prompts.offspring import BEST, SEARCHED, better, looked_at
from evolve.prompts.quoting import DATA, fenced, program_text, said
from evolve.prompts.subject import Subject, effect
from evolve.prompts.trimming import Draft, Piece
from evolve.types import Lesson, Record, RecordId

FORMER = "judged by an earlier version of the evaluator, whose scores do not compare"
"""How a record ended whose score is none of the present version."""
PERSON = "person"
"""Who a hint is by."""
LESSONS = 20
"""Lessons of operators that are told, the latest ones; every hint is."""
RULED_OUT = (
    "- Some programs were ruled out, whatever their scores: a score counts where it comes from what the task asks for."
)
"""All that is told of quarantined programs. How one was found out is nothing to learn from."""


def lessons(subject: Subject) -> Draft:
    """That programs were ruled out, where some were; then persons' hints, then what operators have learned, the latest first."""
    hints = [lesson for lesson in subject.context.lessons if lesson.by == PERSON]
    others = [lesson for lesson in reversed(subject.context.lessons) if lesson.by != PERSON][:LESSONS]
    ruled = (Piece((RULED_OUT, ""), (94.0,)),) if subject.context.quarantined else ()
    return Draft((*ruled, *map(_hint, hints), *(_lesson(*each) for each in enumerate(others))), between="\n")


def _hint(lesson: Lesson) -> Piece:
    return Piece((f"- From a person who knows the problem: {' '.join(lesson.text.split())}", ""), (95.0,))


def _lesson(place: int, lesson: Lesson) -> Piece:
    return Piece((f"- {said(lesson.text, 600)}", ""), (70.0 - place,))


def inspirations(subject: Subject) -> Draft:
    """Whole programs with their scores, as the strategy has drawn them."""
    found = subject.inspirations
    return Draft(tuple(_other(subject, record, 40.0 - place) for place, record in enumerate(found)))


_SHORT = 24
"""Lines of a child's change that are shown."""
_ABSENT_WORTH = 58.0
"""Of the line that tells of a program which does not fit."""


def partners(subject: Subject) -> Draft:
    """The other parents, whole: without them there is nothing to do."""
    return Draft(tuple(Piece((_whole(subject, record),)) for record in subject.partners))


def _other(subject: Subject, number: RecordId, worth: float) -> Piece:
    whole = _whole(subject, number)
    heading = whole.split("\n\n", 1)[0]
    return Piece((whole, f"{heading}\n\nIts text does not fit in here.", ""), (worth, _ABSENT_WORTH))


def _whole(subject: Subject, number: RecordId) -> str:
    program = subject.known.program(number)
    assert program is not None, "a selection names records with programs"
    heading = subject.context.derived.get_or_create(
        ("heading", number, subject.scores.digits), lambda: _heading(subject, number)
    )
    return f"{heading}\n\n{program_text(program)}"


def _heading(subject: Subject, number: RecordId) -> str:
    worth = f"Program {number}: {status(subject, subject.history.record(number))}"
    thought = subject.history.record(subject.known.proposal(number)).thought
    return f"{worth}\n\nThought: {said(thought)}" if thought else worth


def status(subject: Subject, record: Record) -> str:
    """What a program is worth, or how it failed, as a sentence."""
    evaluation, score = record.evaluation, subject.known.score(record.id)
    if score is None:
        return f"{_end_of(subject, record)}."
    missed = ", and misses the constraints" if evaluation.violation else ""
    objectives = [
        f"{each.name} {each.shown(evaluation.objectives[each.name]):.{max(1, each.digits)}g}"
        for each in subject.task.objectives
        if each.name in evaluation.objectives
    ]
    beside = f" ({', '.join(objectives)})" if objectives else ""
    return f"score {subject.scores.shown(score, evaluation.standard_error)}{beside}{missed}."


def _end_of(subject: Subject, record: Record) -> str:
    """How the judging of a proposal ended that has no score which can be compared."""
    former = record.program is not None and not subject.history.is_current(record.id)
    return FORMER if former else ended(subject.history, record)


def lineage(subject: Subject) -> Draft:
    """The last steps that led to the parent, each with its operator, its thought, its change and what that did to the score."""
    steps = subject.steps
    pieces = [_step(subject, record, len(steps) - 1 - place) for place, record in enumerate(steps)]
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _step(subject: Subject, number: RecordId, age: float) -> Piece:
    """`age` 0: the latest step."""
    before = subject.known.made_from(number)
    changed = removed.changed(subject, before, number)
    line = _line(subject, number, before, f", of program {before}")
    short = f"{line}{changed.summary and f' ({changed.summary})'}"
    if not changed.diff:
        return Piece((short, ""), (60.0 - age,))
    return Piece((f"{line}\n\n{_quoted(changed.diff)}", short, ""), (45.0 - age, 60.0 - age))


def _line(subject: Subject, number: RecordId, before: RecordId, of: str = "") -> str:
    """Who made a proposal, `of` what, and what came of it, against the program that it was made from."""
    return subject.context.derived.get_or_create(
        ("line", number, before, of, subject.scores.digits),
        lambda: f"- {_named(subject, number)}{of} by {_by(subject, number)}: {_outcome(subject, number, before)}",
    )


@functools.lru_cache(maxsize=512)
def _quoted(diff: str) -> str:
    return f"{DATA}\n\n{fenced(broken(diff), 'diff')}"


def _named(subject: Subject, number: RecordId) -> str:
    return f"{'Program' if subject.known.program_key(number) else 'Proposal'} {number}"


def _by(subject: Subject, number: RecordId) -> str:
    operator = subject.history.operator(subject.known.proposal(number))
    return f"`{operator}`" if operator else "a person"


def _outcome(subject: Subject, number: RecordId, before: RecordId) -> str:
    """How a proposal ended, against the program that it was made from, and what its maker thought."""
    record, old = subject.history.record(number), subject.known.score(before)
    score = subject.known.score(number)
    if score is None:
        end = _end_of(subject, record)
    elif old is not None:
        end = f"score {subject.scores.shown(score)} ({effect(subject, number, before)})"
    elif subject.history.is_current(before):
        end = f"score {subject.scores.shown(score)}, where program {before} had none"
    else:
        end = f"score {subject.scores.shown(score)}"
    if score is not None and subject.history.violation(number):
        end += ", and misses the constraints"
    words = subject.history.record(subject.known.proposal(number)).thought
    thought = "" if words == reason(subject.history, record) else said(words)
    return f"{end}.{thought and ' Thought: ' + thought}"


def children(subject: Subject) -> Draft:
    """What was made of the parent before: the best first, then the latest, each as a line; with its change where that paid and is short,
    for a thought alone cannot be built on."""
    pieces = tuple(_tried(subject, each, place) for place, each in enumerate(subject.children))
    return Draft(pieces, {"number": str(subject.parent), "count": _count(subject)}, "\n")


def _tried(subject: Subject, number: RecordId, place: int) -> Piece:
    line = _line(subject, number, subject.parent)
    shown = _paying(subject, number, place)
    if not shown:
        return Piece((line, ""), (66.0 - place,))
    return Piece((f"{line}\n\n{_quoted(shown)}\n", line, ""), (43.0 - place, 66.0 - place))


def _paying(subject: Subject, number: RecordId, place: int) -> str:
    """The change that made one of the best children better; empty where it is long, or the child stands elsewhere as a whole."""
    if place >= BEST or number in (*subject.partners, *subject.inspirations):
        return ""
    if not better(subject.known, number, subject.known.score(subject.parent)):
        return ""
    diff = removed.changed(subject, subject.parent, number).diff
    return diff if diff.count("\n") < _SHORT else ""


def _count(subject: Subject) -> str:
    """How many there were, and how they ended."""
    found = subject.proposals
    more = "The latest " if found.count == SEARCHED else ""
    order = " The best first, then the latest." if found.count > 1 else ""
    return f"{more}{found.counted}{order}"


def parent(subject: Subject) -> Draft:
    """The program that is to change, whole."""
    if not subject.parent:
        return Draft()
    record, program = subject.history.record(subject.parent), subject.known.program(subject.parent)
    assert program is not None, "a selection names records with programs"
    words = {
        "number": str(subject.parent),
        "status": _capital(status(subject, record)),
        "changeable": places(program, subject.task.seed),
        "program": program_text(program),
    }
    return Draft(words=words, always=True)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def recent(subject: Subject) -> Draft:
    """The latest proposals, each as a line against what it was made from."""
    found = subject.recent
    pieces = tuple(_proposal(subject, each, place) for place, each in enumerate(found))
    return Draft(pieces, {"count": looked_at(subject.known, found, None).counted})


def _proposal(subject: Subject, number: RecordId, place: int) -> Piece:
    if subject.known.made_from(number):
        return _step(subject, number, place / 2)
    return Piece(
        (
            f"- {_named(subject, number)} by {_by(subject, number)}: {status(subject, subject.history.record(number))}",
            "",
        ),
        (60.0 - place / 2,),
    )


SECTIONS: Mapping[str, Callable[[Subject], Draft]] = {
    "lessons": lessons,
    "inspirations": inspirations,
    "lineage": lineage,
    "children": children,
    "removed": removed.removed,
    "feedback": findings.feedback,
    "parent": parent,
    "partners": partners,
    "recent": recent,
}
"""By the placeholder that stands for each."""
