"""What did not work: failures by their kinds, what was never judged, what operators and models brought, and what was learnt.

Invariant: failures are as many as they were, and examples are named so that they can be looked at."""

from collections.abc import Iterator, Sequence

from evolve import wording
from evolve.pages.document import Block, Line, Mono, Paragraph, Section, Table
from evolve.pages.findings import Findings
from evolve.report import FailureClass, Yield
from evolve.report.failing import LOOKED_AT
from evolve.types import Lesson, Outcome

_CLASSES = 15
_LESSONS = 40
_EXAMPLES = 3
PERSON = "person"


def failed(found: Findings) -> Section:
    """The chapter."""
    return Section("failed", "What did not work", tuple(_blocks(found)))


def _blocks(found: Findings) -> Iterator[Block]:
    page = found.overview
    if not page.records:
        yield Paragraph("Nothing was judged yet.")
        return
    total = sum(page.outcomes.values())
    rows = [(name, f"{count:,}", wording.share(count, total)) for name, count in page.outcomes.items() if count]
    yield Table(("outcome", "records", "share"), tuple(rows), frozenset({1, 2}))
    last = _last(found)
    yield from _classes(f"Programs that failed, by what the judge said first{last}", found.failed, page.name)
    yield from _classes(f"Proposals that were not judged, by their reasons{last}", found.screened, page.name)
    yield from _yields("operator", page.operators)
    yield from _yields("model", page.models)
    if page.failures:
        yield Paragraph("Calls of models that failed:")
        calls = [(line.model, f"{line.calls:,}", f"{line.failed:,}", line.error) for line in page.failures]
        yield Table(("model", "calls", "failed", "the last one because"), tuple(calls), frozenset({1, 2}))
    if found.rulings:
        yield Paragraph(
            f"Quarantined, and left out of all that is reported as found: {wording.counted(len(page.quarantined), 'program')}."
        )
        ruled = [(Mono(each.name), each.by, each.why) for each in found.rulings]
        yield Table(("program", "by", "why"), tuple(ruled))
    yield from _lessons(page.lessons, page.name)


def _last(found: Findings) -> str:
    """Both kinds of failures are read together, so that together they say whether all of them were."""
    count = sum(each.count for each in (*found.failed, *found.screened))
    return f" (of the last {LOOKED_AT:,} failures of both kinds)" if count >= LOOKED_AT else ""


def _classes(title: str, classes: Sequence[FailureClass], name: str) -> Iterator[Block]:
    if not classes:
        return
    more = f"; {wording.counted(len(classes) - _CLASSES, 'rarer kind')} left out" if len(classes) > _CLASSES else ""
    yield Paragraph(f"{title}{more}:")
    rows: list[tuple[Line, ...]] = [
        (each.outcome, each.message or "(no feedback)", f"{each.count:,}", _examples(each, name))
        for each in classes[:_CLASSES]
    ]
    yield Table(("outcome", "said first", "count", "for example"), tuple(rows), frozenset({2}))


def _examples(found: FailureClass, name: str) -> Line:
    names = [Mono(f"{name}/{record}") for record in found.examples[:_EXAMPLES]]
    return tuple(part for each in names for part in (each, " "))


def _yields(label: str, lines: Sequence[Yield]) -> Iterator[Block]:
    if not lines:
        return
    rows = [
        (
            line.name,
            f"{line.proposals:,}",
            f"{line.proposals - line.judged:,}",
            f"{line.judged:,}",
            f"{line.improved:,}",
            wording.share(line.improved, line.judged),
        )
        for line in lines
    ]
    headings = (label, "proposals", Outcome.SCREENED.value, "judged", "better than their parents", "of the judged")
    yield Table(headings, tuple(rows), frozenset(range(1, 6)))


def _lessons(lessons: Sequence[Lesson], name: str) -> Iterator[Block]:
    if not lessons:
        return
    more = f" (the last {_LESSONS} of {len(lessons)})" if len(lessons) > _LESSONS else ""
    yield Paragraph(f"Lessons and hints{more}, which prompts had told from then on:")
    rows: list[tuple[Line, ...]] = [
        (each.text, _by(each), Mono(f"{name}/{each.about}") if each.about else "") for each in lessons[-_LESSONS:]
    ]
    yield Table(("lesson", "by", "about"), tuple(rows))


def _by(lesson: Lesson) -> str:
    return "a person's hint" if lesson.by == PERSON else lesson.by
