"""Sections about a selection: the parent, what the evaluator found of it, its lineage and children, and other programs.

Every word of a program, of an evaluator or of a model is quoted."""

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from evolve.prompts.prompt_context import BEST, SEARCHED, Subject, format_effect, is_better, summarize_records
from evolve.prompts.quoting import (
    DATA,
    break_control_tokens,
    fence_text,
    path_name,
    program_text,
    quote_inline,
    read_excerpt,
)
from evolve.prompts.task_sections import describe_places
from evolve.prompts.trimming import SectionDraft, SectionPiece
from evolve.protocols import History
from evolve.types import FAILURES, Lesson, Outcome, Program, Record, RecordId

_WORDS = 240
_FIRST = 4000
"""Characters of a feedback in which its message is looked for."""
_ENDS = {
    **{outcome: f"failed, {outcome.value}" for outcome in FAILURES},
    Outcome.SCREENED: "not evaluated",
    Outcome.INTERNAL: "not evaluated, the machinery failed",
    Outcome.BELOW_THRESHOLD: "stopped, below the threshold of a stage",
}


def format_outcome(history: History, record: Record) -> str:
    """Returns the class and the message."""
    message = quote_inline(find_message(history, record), _WORDS)
    return f"{_ENDS.get(record.evaluation.outcome, record.evaluation.outcome.value)}{message and ': ' + message}"


def find_message(history: History, record: Record) -> str:
    """Returns the last line of the first paragraph of its feedback: the error itself, where that is a traceback. Without feedback and a program,
    its thought."""
    lines = read_excerpt(history, record.evaluation.feedback, _FIRST).strip().split("\n\n", 1)[0].splitlines()
    if lines:
        return lines[-1]
    return "" if record.program else record.thought


_NUMBERS = 24
"""Metrics that are told of one program."""
_LONG = re.compile(r"-?\b\d+\.\d{7,}(?:[eE][+-]?\d+)?\b")
"""Numbers in artifacts with more digits than it takes to see what they mean."""
_LEAST = 800
"""Characters that feedback has at least, where there is so much."""


def draft_feedback(subject: Subject) -> SectionDraft:
    """Drafts the evaluator's numbers, words and artifacts on the parent. It is there wherever there is any, in short at least."""
    if not subject.parent:
        return SectionDraft()
    record = subject.history.record(subject.parent)
    pieces = [*_draft_metrics(record), *_draft_words(subject, record), *_draft_artifacts(subject, record)]
    return SectionDraft(tuple(pieces), {"number": str(subject.parent)})


def _draft_metrics(record: Record) -> Iterator[SectionPiece]:
    evaluation = record.evaluation
    told = [
        f"{quote_inline(name)[1:-1]} = {value:.6g}"
        for name, value in {**evaluation.descriptors, **evaluation.metrics}.items()
    ]
    if told and not record.origin.case:
        yield SectionPiece((f"Measured: {', '.join(told[:_NUMBERS])}.", ""), (98.0,))


def _draft_words(subject: Subject, record: Record) -> Iterator[SectionPiece]:
    """Yields the whole feedback, as long as it takes a fifth of the prompt at most; else its beginning and its end, in the shortest form much
    less of both."""
    name = record.evaluation.feedback
    forms = [read_excerpt(subject.history, name, most) for most in (max(_LEAST, 4 * subject.tokens // 5), _LEAST)]
    if forms[0] and not record.origin.case:
        texts = tuple(f"{DATA}\n\n{fence_text(text)}" for text in dict.fromkeys(forms))
        yield SectionPiece(texts, (100.0,) * (len(texts) - 1))


def _draft_artifacts(subject: Subject, record: Record) -> Iterator[SectionPiece]:
    """Yields each as an excerpt, its numbers with six digits; together they take an eighth of the prompt at most."""
    if record.origin.case:
        return
    artifacts = record.evaluation.artifacts
    most = max(_LEAST, 4 * subject.tokens // 8 // max(1, len(artifacts)))
    for place, (name, text) in enumerate(artifacts.items()):
        shown = _LONG.sub(_shorten_number, read_excerpt(subject.history, str(text), most))
        if shown:
            heading = f"Artifact {quote_inline(name)}"
            forms = (f"{heading}. {DATA}\n\n{fence_text(shown)}", f"{heading} does not fit in here.", "")
            yield SectionPiece(forms, (97.0 - place / 64, 97.5 - place / 64))


def _shorten_number(number: re.Match[str]) -> str:
    return f"{float(number[0]):.6g}"


@dataclass(frozen=True, slots=True)
class ProgramChange:
    """Difference of two programs. `diff`: unified, one line around each change, empty where it is long."""

    diff: str
    summary: str


def compare_records(subject: Subject, before: RecordId, after: RecordId) -> ProgramChange:
    """Compares the programs of two records; no change where one of them has none."""
    old, new = subject.known.program(before), subject.known.program(after)
    return ProgramChange("", "") if old is None or new is None else compare_programs(old, new)


@functools.lru_cache(maxsize=512)
def compare_programs(old: Program, new: Program) -> ProgramChange:
    """Compares two programs, in bounded time whatever they are: a change is shown whole or counted."""
    lines, removed, added = list[str](), 0, 0
    whole = True
    for path in sorted({*old.files, *new.files}):
        before, after = (program.files.get(path, "").splitlines() for program in (old, new))
        if before == after:
            continue
        removed += (Counter(before) - Counter(after)).total()
        added += (Counter(after) - Counter(before)).total()
        whole = whole and len(before) * len(after) <= _COMPARED
        if whole:
            hunks = list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
            body = ["@@" if line.startswith("@@") else line for line in hunks]
            lines += [f"@ {path_name(path)}", *body] if len(new.files) > 1 else body
    shown = whole and len(lines) <= _CHANGED
    return ProgramChange("\n".join(lines) if shown else "", f"{removed} lines removed, {added} added")


FORMER = "evaluated by an earlier version of the evaluator, whose scores do not compare"
"""End of a record whose score belongs to an earlier version of the task."""
PERSON = "person"
"""Author of a hint."""
LESSONS = 20
"""Lessons of operators that are told, the latest ones; every hint is."""
RULED_OUT = (
    "- Some programs were ruled out, whatever their scores: a score counts where it comes from what the task asks for."
)
"""All that is told of quarantined programs. How one was found out is nothing to learn from."""


def draft_lessons(subject: Subject) -> SectionDraft:
    """Drafts the lessons: that programs were ruled out, where some were; then persons' hints, then what operators have learned, the latest first."""
    hints = [lesson for lesson in subject.context.lessons if lesson.by == PERSON]
    others = [lesson for lesson in reversed(subject.context.lessons) if lesson.by != PERSON][:LESSONS]
    ruled = (SectionPiece((RULED_OUT, ""), (94.0,)),) if subject.context.quarantined else ()
    return SectionDraft(
        (*ruled, *map(_draft_hint, hints), *(_draft_lesson(*each) for each in enumerate(others))), between="\n"
    )


def _draft_hint(lesson: Lesson) -> SectionPiece:
    return SectionPiece((f"- From a person who knows the problem: {' '.join(lesson.text.split())}", ""), (95.0,))


def _draft_lesson(place: int, lesson: Lesson) -> SectionPiece:
    return SectionPiece((f"- {quote_inline(lesson.text, 600)}", ""), (70.0 - place,))


def draft_inspirations(subject: Subject) -> SectionDraft:
    """Drafts the inspirations: whole programs with their scores, as the strategy has drawn them."""
    found = subject.inspirations
    return SectionDraft(tuple(_draft_inspiration(subject, record, 40.0 - place) for place, record in enumerate(found)))


_CHANGED = 40
"""Lines of a change of the lineage that are shown."""
_COMPARED = 250_000
"""Pairs of lines that are compared at most; a larger change is only counted."""
_SHORT = 24
"""Lines of a child's change that are shown."""
_ABSENT_WORTH = 58.0
"""Value of the line on a program that does not fit."""


def draft_partners(subject: Subject) -> SectionDraft:
    """Returns the other parents, whole: without them there is nothing to do."""
    return SectionDraft(tuple(SectionPiece((_format_program(subject, record),)) for record in subject.partners))


def _draft_inspiration(subject: Subject, number: RecordId, worth: float) -> SectionPiece:
    whole = _format_program(subject, number)
    heading = whole.split("\n\n", 1)[0]
    return SectionPiece((whole, f"{heading}\n\nIts text does not fit in here.", ""), (worth, _ABSENT_WORTH))


def _format_program(subject: Subject, number: RecordId) -> str:
    program = subject.known.program(number)
    assert program is not None, "a selection names records with programs"
    heading = subject.context.derived.get_or_create(
        ("heading", number, subject.scores.digits), lambda: _format_heading(subject, number)
    )
    return f"{heading}\n\n{program_text(program)}"


def _format_heading(subject: Subject, number: RecordId) -> str:
    worth = f"Program {number}: {format_status(subject, subject.history.record(number))}"
    thought = subject.history.record(subject.known.proposal(number)).thought
    return f"{worth}\n\nThought: {quote_inline(thought)}" if thought else worth


def format_status(subject: Subject, record: Record) -> str:
    """Formats the score of a program, or how it failed, as a sentence."""
    evaluation, score = record.evaluation, subject.known.score(record.id)
    if score is None:
        return f"{_format_end(subject, record)}."
    missed = ", and violates the constraints" if evaluation.violation else ""
    objectives = [
        f"{each.name} {each.shown(evaluation.objectives[each.name]):.{max(1, each.digits)}g}"
        for each in subject.task.objectives
        if each.name in evaluation.objectives
    ]
    beside = f" ({', '.join(objectives)})" if objectives else ""
    return f"score {subject.scores.format(score, evaluation.standard_error)}{beside}{missed}."


def _format_end(subject: Subject, record: Record) -> str:
    """Formats the outcome of a proposal without a score that can be compared."""
    former = record.program is not None and not subject.history.is_current(record.id)
    return FORMER if former else format_outcome(subject.history, record)


def draft_lineage(subject: Subject) -> SectionDraft:
    """Returns the last steps that led to the parent, each with its operator, its thought, its change and what that did to the score."""
    steps = subject.steps
    pieces = [_draft_step(subject, record, len(steps) - 1 - place) for place, record in enumerate(steps)]
    return SectionDraft(tuple(pieces), {"number": str(subject.parent)})


def _draft_step(subject: Subject, number: RecordId, age: float) -> SectionPiece:
    """Drafts a step of the lineage. `age` 0: the latest step."""
    before = subject.known.parent_of(number)
    changed = compare_records(subject, before, number)
    line = _format_line(subject, number, before, f", of program {before}")
    short = f"{line}{changed.summary and f' ({changed.summary})'}"
    if not changed.diff:
        return SectionPiece((short, ""), (60.0 - age,))
    return SectionPiece((f"{line}\n\n{_quote_diff(changed.diff)}", short, ""), (45.0 - age, 60.0 - age))


def _format_line(subject: Subject, number: RecordId, before: RecordId, of: str = "") -> str:
    """Formats a line on a proposal: its operator, `of` what it was made, and its outcome against the program that it was made from."""
    return subject.context.derived.get_or_create(
        ("line", number, before, of, subject.scores.digits),
        lambda: (
            f"- {_name_record(subject, number)}{of} by {_name_maker(subject, number)}: {_format_result(subject, number, before)}"
        ),
    )


@functools.lru_cache(maxsize=512)
def _quote_diff(diff: str) -> str:
    return f"{DATA}\n\n{fence_text(break_control_tokens(diff), 'diff')}"


def _name_record(subject: Subject, number: RecordId) -> str:
    return f"{'Program' if subject.known.program_key(number) else 'Proposal'} {number}"


def _name_maker(subject: Subject, number: RecordId) -> str:
    operator = subject.history.operator(subject.known.proposal(number))
    return f"`{operator}`" if operator else "a person"


def _format_result(subject: Subject, number: RecordId, before: RecordId) -> str:
    """Formats the outcome of a proposal, against the program that it was made from, and its thought."""
    record, old = subject.history.record(number), subject.known.score(before)
    score = subject.known.score(number)
    if score is None:
        end = _format_end(subject, record)
    elif old is not None:
        end = f"score {subject.scores.format(score)} ({format_effect(subject, number, before)})"
    elif subject.history.is_current(before):
        end = f"score {subject.scores.format(score)}, where program {before} had none"
    else:
        end = f"score {subject.scores.format(score)}"
    if score is not None and subject.history.violation(number):
        end += ", and violates the constraints"
    words = subject.history.record(subject.known.proposal(number)).thought
    thought = "" if words == find_message(subject.history, record) else quote_inline(words)
    return f"{end}.{thought and ' Thought: ' + thought}"


def draft_children(subject: Subject) -> SectionDraft:
    """Drafts the children of the parent: the best first, then the latest, each as a line; with its change where that paid and is short,
    for a thought alone cannot be built on."""
    pieces = tuple(_draft_child(subject, each, place) for place, each in enumerate(subject.children))
    return SectionDraft(pieces, {"number": str(subject.parent), "count": _count_children(subject)}, "\n")


def _draft_child(subject: Subject, number: RecordId, place: int) -> SectionPiece:
    line = _format_line(subject, number, subject.parent)
    shown = _find_paying_change(subject, number, place)
    if not shown:
        return SectionPiece((line, ""), (66.0 - place,))
    return SectionPiece((f"{line}\n\n{_quote_diff(shown)}\n", line, ""), (43.0 - place, 66.0 - place))


def _find_paying_change(subject: Subject, number: RecordId, place: int) -> str:
    """Returns the change that made one of the best children better; empty where it is long, or the child stands elsewhere as a whole."""
    # A program that is shown whole needs no diff beside it.
    if place >= BEST or number in (*subject.partners, *subject.inspirations):
        return ""
    if not is_better(subject.known, number, subject.known.score(subject.parent)):
        return ""
    diff = compare_records(subject, subject.parent, number).diff
    return diff if diff.count("\n") < _SHORT else ""


def _count_children(subject: Subject) -> str:
    """Counts the children, and how they ended."""
    found = subject.proposals
    more = "The latest " if len(subject.history.children(subject.parent)) > SEARCHED else ""
    order = " The best first, then the latest." if found.count > 1 else ""
    return f"{more}{found.summary}{order}"


def draft_parent(subject: Subject) -> SectionDraft:
    """Returns the program that is to change, whole."""
    if not subject.parent:
        return SectionDraft()
    record, program = subject.history.record(subject.parent), subject.known.program(subject.parent)
    assert program is not None, "a selection names records with programs"
    words = {
        "number": str(subject.parent),
        "status": _capitalize(format_status(subject, record)),
        "changeable": describe_places(program, subject.task.seed),
        "program": program_text(program),
    }
    return SectionDraft(words=words, always=True)


def _capitalize(words: str) -> str:
    return words[:1].upper() + words[1:]


def draft_recent(subject: Subject) -> SectionDraft:
    """Returns the latest proposals, each as a line against what it was made from."""
    found = subject.recent
    pieces = tuple(_draft_proposal(subject, each, place) for place, each in enumerate(found))
    return SectionDraft(pieces, {"count": summarize_records(subject.known, found, None).summary})


def _draft_proposal(subject: Subject, number: RecordId, place: int) -> SectionPiece:
    if subject.known.parent_of(number):
        return _draft_step(subject, number, place / 2)
    return SectionPiece(
        (
            f"- {_name_record(subject, number)} by {_name_maker(subject, number)}: {format_status(subject, subject.history.record(number))}",
            "",
        ),
        (60.0 - place / 2,),
    )


SECTIONS: Mapping[str, Callable[[Subject], SectionDraft]] = {
    "lessons": draft_lessons,
    "inspirations": draft_inspirations,
    "lineage": draft_lineage,
    "children": draft_children,
    "feedback": draft_feedback,
    "parent": draft_parent,
    "partners": draft_partners,
    "recent": draft_recent,
}
"""By the placeholder that stands for each."""
