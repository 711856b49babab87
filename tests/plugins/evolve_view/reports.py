"""What a document says, without markup, and campaigns to tell of."""

from collections.abc import Iterable
from pathlib import Path

from evolve.campaign import Campaign
from evolve.types import Case, Origin, Ruled
from evolve_view.chapters import write_report
from evolve_view.documents import (
    Block,
    Bullets,
    ChartFigure,
    CommandList,
    Document,
    Facts,
    Folded,
    Line,
    Mono,
    Paragraph,
    Strong,
    TableBlock,
    Words,
)
from evolve_view.findings import Findings, Moment, TaskPicture, read_findings
from evolve_view.markdown import render_markdown
from evolve_view.rendering import render_document
from tests.written import Written, number_program, number_task

MOMENT = Moment("2026-11-22 17:00 UTC", 1_795_366_800.0, "0.1.0")
MARK = "<!-- evolve report -->"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "]]> --> <!--",
    "\"'><img src=x onerror=alert(1)>",
    "````\n# heading\n```",
    "[a](javascript:alert(1)) ![b](https://example.org/x.png) | **c**",
    "\x00\x07\x1b[31mred\x1b]8;;http://example.org\x07",
    "\u202eturned\u2066\u200b",
    "\ud800",
    "&lt;already&gt; \\\\ \\",
)


def plain(line: Line) -> str:
    """A line without its marks."""
    match line:
        case tuple():
            return "".join(map(plain, line))
        case Mono(text) | Strong(text):
            return text
        case _:
            return line


def said(blocks: Iterable[Block]) -> str:
    """All words of some blocks, a line for each row."""
    return "\n".join(row for block in blocks for row in _rows(block))


def _rows(block: Block) -> list[str]:
    match block:
        case Paragraph(line) | ChartFigure(caption=line):
            return [plain(line)]
        case Bullets(lines):
            return [plain(line) for line in lines]
        case Facts(rows):
            return [f"{label}: {plain(line)}" for label, line in rows]
        case CommandList(rows):
            return [f"{command}: {what}" for command, what in rows]
        case TableBlock(headings, rows):
            return [" | ".join(headings), *(" | ".join(map(plain, row)) for row in rows)]
        case Words(text):
            return [text]
        case Folded(summary, inside):
            return [plain(summary), said(inside)]
        case _:
            return []


def reported(campaign: Campaign, picture: TaskPicture = TaskPicture()) -> tuple[Findings, Document]:  # noqa: B008 a value
    """What there is to tell of a campaign, and its report."""
    found = read_findings(campaign, MOMENT)
    return found, write_report(campaign, found, picture)


def chapter(campaign: Campaign, anchor: str) -> str:
    """What one chapter of a report says; `summary` is what stands before them."""
    _, document = reported(campaign)
    if anchor == "summary":
        return said(document.summary)
    return said(next(each.blocks for each in document.chapters if each.anchor == anchor))


def both(campaign: Campaign, picture: TaskPicture = TaskPicture()) -> tuple[str, str]:  # noqa: B008 a value
    """A report as HTML and as Markdown."""
    _, document = reported(campaign, picture)
    return render_document(document, MARK), render_markdown(document, MARK)


def held_out_campaign(home: Path, *gains: float) -> Campaign:
    """The seed 5 and a best of 7; on each held-out case the seed has 5, and the best so much more."""
    cases = tuple(Case(f"case {place}") for place in range(len(gains)))
    written = Written(home, number_task(held_out=cases))
    written.seed(5.0)
    written.proposal(7.0)
    for case, gain in zip(cases, gains, strict=True):
        for about, fitness, number in ((1, 5.0, 5), (2, 5.0 + gain, 7.0)):
            origin = Origin("measurement", written.next, about=about, why="held out", case=case.name)
            written._settle(origin, number_program(number), written._ok(fitness))
    if written.campaign.state.cases.agree(number_program(7.0).id):
        with written.campaign.log.transaction():
            written.campaign.write(Ruled("promote", number_program(7.0).id, "held out"))
    return written.campaign
