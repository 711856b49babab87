"""Reports of campaigns as text, and campaigns to report."""

import re
from datetime import UTC, datetime
from pathlib import Path

from evolve.campaign import Campaign
from evolve.types import Case, Origin, Ruled
from evolve_view.report import TaskPicture, render_report
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written, number_program, number_task

NOW = datetime(2026, 11, 22, 17, tzinfo=UTC)
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "]]> --> <!--",
    "\"'><img src=x onerror=alert(1)>",
    "\x00\x07\x1b[31mred\x1b]8;;http://example.org\x07",
    "\u202eturned\u2066\u200b",
    "\ud800",
    "&lt;already&gt; \\\\ \\ {{ 7 * 7 }}",
)


def render(campaign: Campaign, picture: TaskPicture | None = None) -> str:
    """Returns the report of a campaign as HTML."""
    return render_report(campaign, NOW, picture or TaskPicture())


def read_section(page: str, anchor: str) -> str:
    """Returns the words of a section of a report, separated by one space; `summary` stands before the chapters."""
    found = re.search(rf'<(section|div) id="{anchor}">(.*?)</\1>\n(?:<nav|\n<section|</main)', page + "\n", re.DOTALL)
    assert found, anchor
    return " ".join(text_of(found[2]).split())


def report_section(campaign: Campaign, anchor: str) -> str:
    """Returns the words of a section of a campaign's report."""
    return read_section(render(campaign), anchor)


def held_out_campaign(home: Path, *gains: float) -> Campaign:
    """Returns a campaign with the seed 5 and a best of 7; on each held-out case the seed has 5, and the best so much more."""
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
