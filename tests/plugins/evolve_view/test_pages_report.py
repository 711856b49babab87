"""A whole report, where everything that others wrote is hostile."""

import re

import pytest

from evolve.types import Anchor, Lesson, LessonWritten, Origin, Outcome, Program
from evolve_view.documents import ChartFigure
from evolve_view.findings import TaskPicture
from evolve_view.markdown import render_markdown
from evolve_view.rendering import render_document
from tests.plugins.evolve_view.reports import HOSTILE, MARK, both, reported
from tests.plugins.evolve_view.test_pages_html import OURS, Tags
from tests.plugins.evolve_view.test_pages_markdown import KINDS, kinds
from tests.written import Written, number_task, short_campaign


def hostile_campaign(home, hostile):
    """A campaign whose brief, code, thoughts, metrics, feedback, names and lessons all say `hostile`."""
    said = hostile.encode("utf-8", "replace").decode()  # a log refuses half a surrogate pair
    seed = Program({"seed.py": f"value = 5\ntext = '''{said}'''\n"})
    written = Written(home, number_task(brief=said, seed=seed, anchors=(Anchor(8.0, said, 2025, said),)))
    path = re.sub(r"[\x00-\x1f/]", "", said)
    better = Program({"seed.py": f"value = 6\n# {said}\n", f"{path}.py": said})
    made = Origin("proposal", 2, operator="diff", model=said, parents=(1,))
    written._settle(Origin("seed", 0), seed, written._ok(5.0, metrics={said: 1.0}))
    written._settle(made, better, written._ok(6.0, metrics={said: 1.0}, environment=said), said)
    written.failure(Outcome.CRASHED, said)
    written.failure(Outcome.SCREENED, said)
    with written.campaign.log.transaction():
        written.campaign.write(LessonWritten(Lesson(said, said, 2)))
    return written.campaign


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_stay_words(tmp_path, hostile):
    """In both formats."""
    with hostile_campaign(tmp_path, hostile) as campaign:
        page, text = both(campaign, TaskPicture(svg=f"<svg>{hostile}</svg>"))
    tags = Tags(page)
    assert (tags.seen <= OURS, tags.handlers, tags.open) == (True, [], [])
    found, headings = kinds(text)
    assert found <= KINDS
    assert [heading[:2] for heading in headings] == ["h1", *["h2"] * 8]
    for written in (page, text):
        assert all(character.isprintable() or character == "\n" for character in written)


def test_a_report_is_the_same_for_the_same_log(tmp_path):
    """But for the time that has passed."""
    with hostile_campaign(tmp_path, "a") as campaign:
        first, again = (re.sub(r"[\d.]+ m?s|[\d.]+ programs a second", "", both(campaign)[1]) for _ in range(2))
    assert first == again


def test_a_picture_that_failed_says_why(tmp_path):
    with hostile_campaign(tmp_path, "a") as campaign:
        _, text = both(campaign, TaskPicture(why="the evaluator is gone"))
    assert "There is no picture of the result: the evaluator is gone" in text


def test_the_first_screen_shows_what_was_found(tmp_path):
    """A low chart of the best so far before the chapters, which Markdown does without; none where the seed is the best."""
    with short_campaign(tmp_path) as campaign:
        _, document = reported(campaign)
    charts = [block for block in document.summary if isinstance(block, ChartFigure)]
    assert [(chart.size, [series.y for series in chart.series]) for chart in charts] == [
        ("low", [[5.0, 6.0, 6.5, 6.5]])
    ]
    assert [level.name for level in charts[0].levels] == ["seed: 5"]
    assert 'height="210"' in render_document(document, MARK).split("<nav", 1)[0]
    assert "\n\n\n" not in render_markdown(document, MARK)
    nothing = Written(tmp_path)
    nothing.seed(5.0)
    with nothing.campaign as campaign:
        _, document = reported(campaign)
    assert not [block for block in document.summary if isinstance(block, ChartFigure)]


def test_the_first_chart_has_an_even_axis(tmp_path):
    """Also where the one of the chapter is logarithmic: nothing beside it says so."""
    written = Written(tmp_path, budget=["500programs"])
    written.seed(5.0)
    written.proposal(6.0)
    for _ in range(220):
        written.failure(Outcome.CRASHED, "it divided by zero")
    with written.campaign as campaign:
        _, document = reported(campaign)
    whole = next(each.blocks[0] for each in document.chapters if each.anchor == "course")
    first = next(block for block in document.summary if isinstance(block, ChartFigure))
    assert isinstance(whole, ChartFigure)
    assert (first.log_x, whole.log_x) == (False, True)
