"""The sections that tell of a selection: what is known of the parent, of what was made of it, and of others.

Invariant: pieces are whole programs, steps, lines and texts; every word of a program, of an evaluator or of a model is quoted."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from evolve.prompt.changeable import places
from evolve.prompt.lineage import Change, change, outline, telling_lines
from evolve.prompt.quoting import DATA, fenced, program_text, said
from evolve.prompt.subject import Subject
from evolve.prompt.trimming import Draft, Piece
from evolve.types import FAILURES, Lesson, Outcome, Record, RecordId

PERSON = "person"
"""Who a hint is by."""
LESSONS = 20
"""Lessons of operators that are told, the latest ones; every hint is."""
_REMOVED = 12
"""Lines of a step that are told as taken out."""
_NUMBERS = 24
"""Metrics that are told of one program."""
_LEAST = 800
"""Characters that feedback has at least, where there is so much."""


def lessons(subject: Subject) -> Draft:
    """Persons' hints first, then what operators have learned, the latest first."""
    hints = [lesson for lesson in subject.lessons if lesson.by == PERSON]
    others = [lesson for lesson in reversed(subject.lessons) if lesson.by != PERSON][:LESSONS]
    return Draft((*map(_hint, hints), *(_lesson(*each) for each in enumerate(others))), between="\n")


def _hint(lesson: Lesson) -> Piece:
    return Piece((f"- From a person who knows the problem: {' '.join(lesson.text.split())}", ""), (95.0,))


def _lesson(place: int, lesson: Lesson) -> Piece:
    return Piece((f"- {said(lesson.text, 600)}", ""), (70.0 - place,))


def inspirations(subject: Subject) -> Draft:
    """Whole programs with their scores, as the strategy has drawn them."""
    found = subject.inspirations
    return Draft(tuple(_other(subject, record, 40.0 - place) for place, record in enumerate(found)))


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
    record, program = subject.record(number), subject.program(number)
    told = [f"Program {number}: {status(subject, record)}"]
    if record.thought:
        told.append(f"Thought: {said(record.thought)}")
    assert program is not None, "a selection names records with programs"
    return "\n\n".join((*told, program_text(program)))


def status(subject: Subject, record: Record) -> str:
    """What a program is worth, or how it failed, as a sentence."""
    evaluation, score = record.evaluation, subject.score(record.id)
    if score is None:
        return f"{subject.ended(record)}."
    missed = ", and misses the constraints" if evaluation.violation else ""
    objectives = [
        f"{each.name} {each.shown(evaluation.objectives[each.name]):.{max(1, each.digits)}g}"
        for each in subject.task.objectives
        if each.name in evaluation.objectives
    ]
    beside = f" ({', '.join(objectives)})" if objectives else ""
    return f"score {subject.scores.shown(score, evaluation.standard_error)}{beside}{missed}."


def lineage(subject: Subject) -> Draft:
    """The last steps that led to the parent, each with its operator, its thought, its change and what that did to the score."""
    steps = subject.steps
    pieces = [_step(subject, record, len(steps) - 1 - place) for place, record in enumerate(steps)]
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _step(subject: Subject, number: RecordId, age: float) -> Piece:
    """`age` 0: the latest step."""
    before = subject.history.parents(number)[0]
    changed = _changed(subject, before, number)
    line = f"- {_named(subject, number)}, of program {before} by {_by(subject, number)}: {_outcome(subject, number, before)}"
    short = f"{line}{changed.summary and f' ({changed.summary})'}"
    if not changed.diff:
        return Piece((short, ""), (60.0 - age,))
    return Piece((f"{line}\n\n{DATA}\n\n{fenced(changed.diff, 'diff')}", short, ""), (45.0 - age, 60.0 - age))


def _changed(subject: Subject, before: RecordId, after: RecordId) -> Change:
    old, new = subject.program(before), subject.program(after)
    return Change("", "", ()) if old is None or new is None else change(old, new)


def _named(subject: Subject, number: RecordId) -> str:
    return f"{'Program' if subject.program_key(number) else 'Proposal'} {number}"


def _by(subject: Subject, number: RecordId) -> str:
    return f"`{subject.history.operator(number)}`" if subject.history.operator(number) else "a person"


def _outcome(subject: Subject, number: RecordId, before: RecordId) -> str:
    """How a proposal ended, against the program that it was made from, and what its maker thought."""
    record, score, old = subject.record(number), subject.score(number), subject.score(before)
    if score is None:
        ended = subject.ended(record)
    elif old is None:
        ended = f"score {subject.scores.shown(score)}, where program {before} had none"
    else:
        ended = f"score {subject.scores.shown(score)} ({subject.scores.change(score, old)})"
    thought = said(record.thought) if record.program or record.evaluation.outcome is not Outcome.SCREENED else ""
    return f"{ended}.{thought and ' Thought: ' + thought}"


def children(subject: Subject) -> Draft:
    """What was made of the parent before: the best first, then the latest, each as a line."""
    found = subject.children
    lines = [
        f"- {_named(subject, each)} by {_by(subject, each)}: {_outcome(subject, each, subject.parent)}"
        for each in found
    ]
    pieces = tuple(Piece((line, ""), (66.0 - place,)) for place, line in enumerate(lines))
    return Draft(pieces, {"number": str(subject.parent), "count": _count(subject)}, "\n")


def _count(subject: Subject) -> str:
    """How many there were, and how they ended."""
    found = subject.proposals
    told = "The best first, then the latest." if len(found) > 1 else ""
    return f"{_ends(subject, found, subject.score(subject.parent) if subject.parent else None)} {told}".rstrip()


def _ends(subject: Subject, found: Sequence[RecordId], old: float | None) -> str:
    counts = {"better": 0, "not better": 0, "scored": 0, "failed": 0, "not judged": 0, "stopped": 0}
    for each in found:
        counts[_end(subject, each, old)] += 1
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{len(found)} proposal{'s' if len(found) != 1 else ''}: {told}."


def _end(subject: Subject, number: RecordId, old: float | None) -> str:
    score, outcome = subject.score(number), subject.history.outcome(number)
    if score is not None:
        return "scored" if old is None else "better" if score > old else "not better"
    if outcome in FAILURES:
        return "failed"
    return "stopped" if outcome is Outcome.BELOW_THRESHOLD else "not judged"


def removed(subject: Subject) -> Draft:
    """Lines that a step of the lineage took out and that are not back, the latest step first, and the children that put some back."""
    program = subject.program(subject.parent) if subject.parent else None
    if program is None:
        return Draft()
    present, pieces = telling_lines(program), list[Piece]()
    told = dict[str, None]()
    for age, number in enumerate(reversed(subject.steps)):
        before = subject.history.parents(number)[0]
        taken = _changed(subject, before, number).taken
        gone = [line for line in taken if outline(line) not in present and outline(line) not in told]
        told.update(dict.fromkeys(map(outline, gone)))
        if gone:
            pieces.append(Piece((_taken_out(subject, number, before, gone), ""), (57.0 - age,)))
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _taken_out(subject: Subject, number: RecordId, before: RecordId, gone: Sequence[str]) -> str:
    old, new = subject.score(before), subject.score(number)
    effect = f" ({subject.scores.change(new, old)})" if old is not None and new is not None else ""
    more = f" The first {_REMOVED} of {len(gone)} lines:" if len(gone) > _REMOVED else ""
    shown = fenced("\n".join(gone[:_REMOVED]))
    back = [each for each in subject.children if _puts_back(subject, each, gone)]
    ends = "; ".join(_put_back(subject, each) for each in back)
    again = f"\n\nPut back, in part at least, by {ends}." if back else ""
    return f"On the way to program {number}{effect}.{more} {DATA}\n\n{shown}{again}"


def _puts_back(subject: Subject, child: RecordId, gone: Sequence[str]) -> bool:
    program = subject.program(child)
    return program is not None and any(outline(line) in telling_lines(program) for line in gone)


def _put_back(subject: Subject, child: RecordId) -> str:
    score, old = subject.score(child), subject.score(subject.parent)
    if score is None or old is None:
        return f"program {child} ({subject.history.outcome(child).value})"
    return f"program {child} ({subject.scores.change(score, old)})"


def feedback(subject: Subject) -> Draft:
    """What the evaluator says of the parent: numbers, words, and artifacts. It is there wherever there is any, in short at least."""
    if not subject.parent:
        return Draft()
    record = subject.record(subject.parent)
    pieces = [*_numbers(record), *_words(subject, record), *_artifacts(subject, record)]
    return Draft(tuple(pieces), {"number": str(subject.parent)})


def _numbers(record: Record) -> Iterator[Piece]:
    evaluation = record.evaluation
    told = [
        f"{said(name)[1:-1]} = {value:.6g}" for name, value in {**evaluation.descriptors, **evaluation.metrics}.items()
    ]
    if told and not record.origin.case:
        yield Piece((f"Measured: {', '.join(told[:_NUMBERS])}.", ""), (98.0,))


def _words(subject: Subject, record: Record) -> Iterator[Piece]:
    """The whole feedback, as long as it takes a fifth of the prompt at most; else its beginning and its end, in the shortest form much
    less of both."""
    name = record.evaluation.feedback
    forms = [subject.text(name, most) for most in (max(_LEAST, 4 * subject.tokens // 5), _LEAST)]
    if forms[0] and not record.origin.case:
        texts = tuple(f"{DATA}\n\n{fenced(text)}" for text in dict.fromkeys(forms))
        yield Piece(texts, (100.0,) * (len(texts) - 1))


def _artifacts(subject: Subject, record: Record) -> Iterator[Piece]:
    """Each as an excerpt; together they take an eighth of the prompt at most."""
    if record.origin.case:
        return
    artifacts = record.evaluation.artifacts
    most = max(_LEAST, 4 * subject.tokens // 8 // max(1, len(artifacts)))
    for place, (name, text) in enumerate(artifacts.items()):
        shown = subject.text(str(text), most)
        if shown:
            heading = f"Artifact {said(name)}"
            forms = (f"{heading}. {DATA}\n\n{fenced(shown)}", f"{heading} does not fit in here.", "")
            yield Piece(forms, (97.0 - place / 64, 97.5 - place / 64))


def parent(subject: Subject) -> Draft:
    """The program that is to change, whole."""
    if not subject.parent:
        return Draft()
    record, program = subject.record(subject.parent), subject.program(subject.parent)
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
    return Draft(pieces, {"count": _ends(subject, found, None)})


def _proposal(subject: Subject, number: RecordId, place: int) -> Piece:
    parents = subject.history.parents(number)
    if parents:
        return _step(subject, number, place / 2)
    return Piece(
        (f"- {_named(subject, number)} by {_by(subject, number)}: {status(subject, subject.record(number))}", ""),
        (60.0 - place / 2,),
    )


SECTIONS: Mapping[str, Callable[[Subject], Draft]] = {
    "lessons": lessons,
    "inspirations": inspirations,
    "lineage": lineage,
    "children": children,
    "removed": removed,
    "feedback": feedback,
    "parent": parent,
    "partners": partners,
    "recent": recent,
}
"""By the placeholder that stands for each."""
