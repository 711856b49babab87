"""Sections about a selection: the state of the search, the parent with what the evaluator found of it, the ideas that were tried, and other
programs.

Every word of a program, of an evaluator or of a model is quoted."""

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from evolve.prompts.prompt_context import Subject, format_effect
from evolve.prompts.quoting import (
    DATA,
    break_control_tokens,
    fence_text,
    path_name,
    program_text,
    quote_inline,
    read_excerpt,
)
from evolve.prompts.scores import format_number
from evolve.prompts.task_sections import describe_places
from evolve.prompts.trimming import SectionDraft, SectionPiece
from evolve.protocols import History
from evolve.types import FAILURES, STAGNATION, Lesson, Outcome, Program, Record, RecordId

FORMER = "evaluated by an earlier version of the evaluator, whose scores do not compare"
"""End of a record whose score belongs to an earlier version of the task."""
PERSON = "person"
"""Author of a hint."""
LESSONS = 20
"""Lessons of operators that are shown, the latest ones; every hint is."""
RULED_OUT = (
    "- Some programs were ruled out, whatever their scores: a score counts where it comes from what the task asks for."
)
"""All that is said of quarantined programs. How one was found out is nothing to learn from."""
_WORDS = 400
_FIRST = 4000
"""Characters of a feedback in which its message is looked for."""
_ROWS, _COLUMNS = 12, 12
"""Programs and numbers of the table."""
_LEAST = 800
"""Characters that feedback has at least, where there is so much."""
_LONG = re.compile(r"-?\b\d+\.\d{7,}(?:[eE][+-]?\d+)?\b")
"""Numbers in artifacts with more digits than it takes to see what they mean."""
_STEP_LINES = 24
"""Lines of a change of the lineage that are shown."""
_COMPARED = 250_000
"""Pairs of lines that are compared at most; a larger change is only counted."""
_SHORTER = 0.7
"""Another program is shown by its difference from the parent where that is so much shorter than the program."""
_REPEATS = ("duplicate of ", "not novel: ")
"""Beginnings of the reasons against programs that the search has already; the idea is worth a line."""
_ENDS = {
    **{outcome: outcome.value.replace("_", " ") for outcome in FAILURES},
    Outcome.SCREENED: "not evaluated",
    Outcome.INTERNAL: "not evaluated, the machinery failed",
    Outcome.BELOW_THRESHOLD: "stopped by the threshold of a stage",
}


# The state of the search


def draft_state(subject: Subject) -> SectionDraft:
    """Drafts where the search stands: the best score, whether it still rises, and a table of numbers."""
    lines = [f"- {line}" for line in _describe_standing(subject)]
    table = _draft_table(subject)
    if not lines and not table:
        return SectionDraft()
    first = (SectionPiece(("\n".join(lines),)),) if lines else ()
    return SectionDraft((*first, *table))


def _describe_standing(subject: Subject) -> Iterator[str]:
    best = subject.best
    score = subject.known.score(best) if best else None
    if score is not None:
        shown = subject.scores.format(score, subject.history.record(best).evaluation.standard_error)
        which = f"program {best}" + (", the one to change" if best == subject.parent else "")
        yield f"Best score so far: {shown} ({which})."
    if subject.fruitless:
        yield f"Proposals since then: {subject.fruitless}, none of them better."
    if subject.selection.why == STAGNATION:
        yield "The search stands still, and this request is for a larger change: change something that all ideas below leave as it is."


def _draft_table(subject: Subject) -> Iterator[SectionPiece]:
    """Yields a table of what the evaluator measured, with a row for the parent, its own parent, the best program, the others that are shown and the
    ideas with a score, and one for the best result on each case."""
    if not subject.parent or subject.history.record(subject.parent).origin.case:
        return
    rows = {record: _numbers(subject, record) for record in _list_rows(subject)}
    names = list(dict.fromkeys(name for each in rows.values() for name in each))[:_COLUMNS]
    if not names:
        return
    heads = [quote_inline(name)[1:-1].replace("|", "/") for name in names]
    times = _list_times(subject, list(rows))
    timed = ["time in s"] if times else []
    lines = [["program", "score", *timed, *heads], ["---"] * (2 + len(timed) + len(names))]
    for record, numbers in rows.items():
        score = subject.known.score(record)
        cells = [format_number(numbers[name], 4) if name in numbers else "" for name in names]
        if times:
            cells = [times[record], *cells]
        lines.append([_name_row(subject, record), "" if score is None else subject.scores.format(score), *cells])
    bests = [_find_best(subject, name) for name in names]
    if any(bests):
        lines.append(["best of all", "", *([""] * len(timed)), *(_format_best(subject, best) for best in bests)])
    yield SectionPiece(("\n".join(f"| {' | '.join(line)} |" for line in lines), ""), (96.0,))


def _list_times(subject: Subject, records: Sequence[RecordId]) -> Mapping[RecordId, str]:
    """Returns what the evaluations took; nothing where that is of no account: a tenth of the limit at most, or not to be shown."""
    most = sum(stage.limit for stage in subject.task.stages)
    seconds = {record: subject.history.record(record).evaluation.seconds for record in records}
    if not subject.context.timed or max(seconds.values()) < 0.1 * most:
        return {}
    return {record: _format_seconds(value) if value > 0 else "" for record, value in seconds.items()}


def _list_rows(subject: Subject) -> Sequence[RecordId]:
    """Returns the programs of the table: those with numbers, the parent first, and before the ideas those that are the best on a case."""
    shown = (subject.best, *subject.partners, *subject.others)
    bests = (_find_best(subject, case) for case in _numbers(subject, subject.parent))
    holders = (best[0] for best in bests if best)
    wanted = (subject.parent, *subject.ancestors[:1], *filter(None, (*shown, *holders, *subject.ideas)))
    scored = (each for each in dict.fromkeys(wanted) if each == subject.parent or subject.known.score(each) is not None)
    able = (record for record in scored if record and _numbers(subject, record))
    return list(islice(able, _ROWS))


def _name_row(subject: Subject, record: RecordId) -> str:
    roles = {
        subject.best: "the best",
        **dict.fromkeys(subject.ancestors[:1], "its parent"),
        subject.parent: "to change",
    }
    return f"{record}, {roles[record]}" if record in roles else str(record)


def _find_best(subject: Subject, case: str) -> tuple[RecordId, float] | None:
    return subject.history.best_on_case(case, subject.known.quarantined)


def _numbers(subject: Subject, record: RecordId) -> Mapping[str, float]:
    """Returns the cases and metrics of a record."""
    evaluation = subject.history.record(record).evaluation
    if not subject.history.is_current(record):
        return {}
    cases = {name: subject.task.fitness.shown(value) for name, value in evaluation.cases.items()}
    return {**cases, **evaluation.metrics}


def _format_best(subject: Subject, best: tuple[RecordId, float] | None) -> str:
    return "" if best is None else f"{format_number(subject.task.fitness.shown(best[1]), 4)} ({best[0]})"


# Lessons


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


# Ideas that were tried


def draft_lineage(subject: Subject) -> SectionDraft:
    """Drafts the last steps that led to the parent, the first one first; the last two with their change, where it is short."""
    steps = subject.lineage
    pieces = [_draft_step(subject, record, len(steps) - 1 - place) for place, record in enumerate(steps)]
    return SectionDraft(tuple(pieces), {"number": str(subject.parent)}, "\n")


def _draft_step(subject: Subject, number: RecordId, age: int) -> SectionPiece:
    """Drafts a step of the lineage. `age` 0: the latest step."""
    line = _format_idea(subject, number, f", from {subject.known.parent_of(number)}")
    before = subject.known.parent_of(number)
    # The difference from the best program is shown with that one.
    diff = "" if age > 1 or before in subject.others else compare_records(subject, before, number)
    if not diff or diff.count("\n") >= _STEP_LINES:
        return SectionPiece((line, ""), (60.0 - age,))
    return SectionPiece((f"{line}\n\n{_quote_diff(diff)}\n", line, ""), (45.0 - age, 60.0 - age))


def draft_ideas(subject: Subject) -> SectionDraft:
    """Drafts the ledger: a line for each idea that was tried anywhere, the nearest to the parent first; what was tried more than once is one line."""
    groups: dict[str, list[RecordId]] = {}
    for record in subject.ideas:
        groups.setdefault(_name_idea(subject, record), []).append(record)
    unusable = groups.pop("", [])
    pieces = [
        SectionPiece((_format_group(subject, records), ""), (66.0 - place / 2,))
        for place, records in enumerate(groups.values())
    ]
    summaries = (_format_variations(subject), _format_unusable(subject, unusable))
    pieces += [SectionPiece((line, ""), (50.0,)) for line in summaries if line]
    return SectionDraft(tuple(pieces), {"number": str(subject.parent)}, "\n")


def _name_idea(subject: Subject, number: RecordId) -> str:
    """Returns the words of a proposal's thought, by which equal ideas are found; empty for an answer without a program, but for a duplicate, which
    has its idea, or without a thought that of what it repeats."""
    record = subject.history.record(subject.known.proposal(number))
    message = "" if record.program else find_message(subject.history, record)
    if not record.program and not message.startswith(_REPEATS):
        return ""
    return " ".join(re.findall(r"\w+", record.thought.casefold())) or message or str(number)


def _format_unusable(subject: Subject, records: Sequence[RecordId]) -> str:
    """Formats the answers without a program as one line, with the reason of the newest."""
    if not records:
        return ""
    reason = quote_inline(find_message(subject.history, subject.history.record(max(records))), _WORDS)
    return f"- Answers that could not be used: {len(records)}, the latest because: {reason}"


def _format_group(subject: Subject, records: Sequence[RecordId]) -> str:
    """Formats the line of an idea, by the best of its records."""
    scored = [(score, record) for record in records if (score := subject.known.score(record)) is not None]
    record = max(scored)[1] if scored else records[0]
    parent = subject.known.parent_of(record)
    line = _format_idea(subject, record, f", from {parent}" if parent else "")
    return f"{line} Tried {_times(len(records))}." if len(records) > 1 else line


def _format_idea(subject: Subject, number: RecordId, of: str) -> str:
    """Formats the line of a proposal: its operator, its thought and its result against the program that it was made from."""
    return subject.context.derived.get_or_create(
        ("idea", number, of, subject.scores.digits), lambda: f"- {_describe_idea(subject, number, of)}"
    )


def _describe_idea(subject: Subject, number: RecordId, of: str) -> str:
    operator = subject.history.operator(subject.known.proposal(number))
    name = f"{'Program' if subject.known.program_key(number) else 'Proposal'} {number}{of} (`{operator or 'a person'}`)"
    thought = quote_inline(subject.history.record(subject.known.proposal(number)).thought, _WORDS)
    return f"{name}: {thought and thought + ' '}{_format_result(subject, number)}"


def _format_result(subject: Subject, number: RecordId) -> str:
    """Formats the outcome of a proposal, against the program that it was made from."""
    before, score = subject.known.parent_of(number), subject.known.score(number)
    if score is None:
        return f"Result: {_format_end(subject, subject.history.record(number))}."
    effect = format_effect(subject, number, before) if before else ""
    than = f" ({effect} than {before})" if effect.endswith(("better", "worse")) else f" ({effect})" if effect else ""
    missed = ", and violates the constraints" if subject.history.violation(number) else ""
    return f"Result: {subject.scores.format(score)}{than}{missed}."


def _format_variations(subject: Subject) -> str:
    """Formats what operators without a model made of the parent, as one line."""
    records = subject.variations
    if not records:
        return ""
    counts = Counter(subject.history.operator(record) for record in records)
    made = ", ".join(f"`{name}` {_times(count)}" for name, count in counts.most_common())
    scored = [(score, record) for record in records if (score := subject.known.score(record)) is not None]
    best = f"; the best of them, program {max(scored)[1]}: {subject.scores.format(max(scored)[0])}" if scored else ""
    return f"- Small changes of program {subject.parent} without a model: {made}{best}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def format_outcome(
    history: History, record: Record, limits: Mapping[str, float] = MappingProxyType({}), *, is_repaired: bool = False
) -> str:
    """Returns how a proposal without a score ended; `limits` are those of the stages in seconds. An idea whose program ran out of time is not
    refuted, and the words say so, until `is_repaired`: a child of it has a score."""
    evaluation, message = record.evaluation, quote_inline(find_message(history, record), _WORDS)
    if evaluation.outcome is Outcome.TIMED_OUT:
        limit = evaluation.limit or limits.get(evaluation.stage, 0.0)
        after = f" after {limit:.3g} s" if limit else ""
        hope = "" if is_repaired else "; the idea may be good in a faster program"
        return f"no score: it ran out of time{after}{message and ', ' + message}{hope}"
    end = _ENDS.get(evaluation.outcome, evaluation.outcome.value)
    failed = f"failed, {end}" if evaluation.outcome in FAILURES else end
    return f"{failed}{message and ': ' + message}"


def find_message(history: History, record: Record) -> str:
    """Returns the last line of the first paragraph of its feedback: the error itself, where that is a traceback. Without feedback and a program,
    its thought."""
    lines = read_excerpt(history, record.evaluation.feedback, _FIRST).strip().split("\n\n", 1)[0].splitlines()
    if lines:
        return lines[-1]
    return "" if record.program else record.thought


def _format_end(subject: Subject, record: Record) -> str:
    """Formats the outcome of a proposal without a score that can be compared."""
    former = record.program is not None and not subject.history.is_current(record.id)
    limits = {stage.name: stage.limit for stage in subject.task.stages}
    is_repaired = any(subject.known.score(child) is not None for child in subject.history.children(record.id))
    return FORMER if former else format_outcome(subject.history, record, limits, is_repaired=is_repaired)


# Programs


def draft_parent(subject: Subject) -> SectionDraft:
    """Drafts the program that is to change, whole."""
    if not subject.parent:
        return SectionDraft()
    record, program = subject.history.record(subject.parent), subject.known.program(subject.parent)
    assert program is not None, "a selection names records with programs"
    words = {
        "number": str(subject.parent),
        "status": f"{_capitalize(format_status(subject, record))}{_format_time(subject, record)}",
        "changeable": describe_places(program, subject.task.seed),
        "program": program_text(program),
    }
    return SectionDraft(words=words, always=True)


def _format_time(subject: Subject, record: Record) -> str:
    """Formats the time that a successful evaluation took, of the time that it has."""
    evaluation = record.evaluation
    if not subject.context.timed or evaluation.fitness is None or evaluation.seconds <= 0:
        return ""
    most = sum(stage.limit for stage in subject.task.stages)
    return f" Its evaluation took {_format_seconds(evaluation.seconds)} s of at most {most:g} s."


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def _capitalize(words: str) -> str:
    return words[:1].upper() + words[1:]


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


def draft_others(subject: Subject) -> SectionDraft:
    """Drafts the other programs, the best first, each by what differs from the parent where that is shorter, and with the reason why it is shown."""
    return SectionDraft(tuple(_draft_other(subject, record, place) for place, record in enumerate(subject.others)))


def _draft_other(subject: Subject, number: RecordId, place: int) -> SectionPiece:
    heading = _format_heading(subject, number)
    # The best program stays longest.
    worth = 64.0 if number == subject.best else 40.0 - place
    forms = (f"{heading}\n\n{_draft_text(subject, number)}", f"{heading} Its text does not fit in here.", "")
    return SectionPiece(forms, (worth, 66.0))


def _draft_text(subject: Subject, number: RecordId) -> str:
    """Returns a program whole, or what differs from the parent where that is much shorter."""
    program = subject.known.program(number)
    assert program is not None, "others and partners have programs"
    whole, diff = program_text(program), compare_records(subject, subject.parent, number) if subject.parent else ""
    if diff and len(diff) < _SHORTER * len(whole):
        return f"Its differences from program {subject.parent}:\n\n{_quote_diff(diff)}"
    return whole


def draft_partners(subject: Subject) -> SectionDraft:
    """Drafts the other parents, which no prompt does without: there would be nothing to do."""
    pieces = [
        SectionPiece((f"{_format_heading(subject, record)}\n\n{_draft_text(subject, record)}",))
        for record in subject.partners
    ]
    return SectionDraft(tuple(pieces))


def _format_heading(subject: Subject, number: RecordId) -> str:
    record = subject.history.record(number)
    thought = quote_inline(subject.history.record(subject.known.proposal(number)).thought, _WORDS)
    reason = ", ".join(_list_merits(subject, number))
    return f"Program {number}{reason and f', {reason}'}: {format_status(subject, record)}{thought and ' ' + thought}"


def _list_merits(subject: Subject, number: RecordId) -> Iterator[str]:
    """Yields what a program is shown for."""
    if number == subject.best:
        yield "the best so far"
    cases = subject.history.record(number).evaluation.cases
    best = [name for name in cases if (found := _find_best(subject, name)) and found[0] == number]
    if best:
        more = f" and {len(best) - 2} more" if len(best) > 2 else ""
        yield f"the best on {' and '.join(quote_inline(name)[1:-1] for name in best[:2])}{more}"


def compare_records(subject: Subject, before: RecordId, after: RecordId) -> str:
    """Returns the unified diff of the programs of two records; empty where one of them has none, or where they are too long."""
    old, new = subject.known.program(before), subject.known.program(after)
    return "" if old is None or new is None else compare_programs(old, new)


@functools.lru_cache(maxsize=512)
def compare_programs(old: Program, new: Program) -> str:
    """Returns the unified diff of two programs, with a line around each change, in bounded time whatever they are; empty where they are too long."""
    lines = list[str]()
    for path in sorted({*old.files, *new.files}):
        before, after = (program.files.get(path, "").splitlines() for program in (old, new))
        if before == after:
            continue
        if len(before) * len(after) > _COMPARED:
            return ""
        hunks = list(difflib.unified_diff(before, after, n=1, lineterm=""))[2:]
        body = ["@@" if line.startswith("@@") else line for line in hunks]
        lines += [f"@ {path_name(path)}", *body] if len(new.files) > 1 else body
    return "\n".join(lines)


@functools.lru_cache(maxsize=512)
def _quote_diff(diff: str) -> str:
    return f"{DATA}\n\n{fence_text(break_control_tokens(diff), 'diff')}"


# Feedback


def draft_feedback(subject: Subject) -> SectionDraft:
    """Drafts the evaluator's words and artifacts on the parent. It is there wherever there is any, in short at least."""
    if not subject.parent:
        return SectionDraft()
    record = subject.history.record(subject.parent)
    pieces = () if record.origin.case else (*_draft_words(subject, record), *_draft_artifacts(subject, record))
    return SectionDraft(pieces, {"number": str(subject.parent)})


def _draft_words(subject: Subject, record: Record) -> Iterator[SectionPiece]:
    """Yields the whole feedback, as long as it takes a fifth of the prompt at most; else its beginning and its end, in the shortest form much
    less of both."""
    name = record.evaluation.feedback
    forms = [read_excerpt(subject.history, name, most) for most in (max(_LEAST, 4 * subject.tokens // 5), _LEAST)]
    if forms[0]:
        texts = tuple(f"{DATA}\n\n{fence_text(text)}" for text in dict.fromkeys(forms))
        yield SectionPiece(texts, (100.0,) * (len(texts) - 1))


def _draft_artifacts(subject: Subject, record: Record) -> Iterator[SectionPiece]:
    """Yields each as an excerpt, its numbers with six digits; together they take an eighth of the prompt at most."""
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


SECTIONS: Mapping[str, Callable[[Subject], SectionDraft]] = {
    "state": draft_state,
    "lessons": draft_lessons,
    "lineage": draft_lineage,
    "ideas": draft_ideas,
    "others": draft_others,
    "feedback": draft_feedback,
    "parent": draft_parent,
    "partners": draft_partners,
}
"""By the placeholder that stands for each."""
