"""The chapters of a report, on small campaigns and on one where everything that others wrote is hostile."""

import re
from html.parser import HTMLParser

import pytest

from evolve.report import ChangedSetting, find_changed_settings
from evolve.types import Anchor, Call, Fitness, Lesson, LessonWritten, Origin, Outcome, Program, Ruled
from evolve_view.rendering import format_setting
from evolve_view.report import TaskPicture, read_steps
from tests.plugins.evolve_view.reports import HOSTILE, held_out_campaign, read_section, render, report_section
from tests.written import Written, aimed, aiming_campaign, aiming_task, number_task, short_campaign

OURS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section", "figure", "figcaption"),
    *("h1", "h2", "p", "ul", "ol", "li", "a", "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td"),
    *("blockquote", "pre", "code", "span", "strong", "details", "summary", "img"),
    *("svg", "text", "line", "path", "circle", "mark"),
}
VOID = ("meta", "img")


class Tags(HTMLParser):
    """The tags of a page, with whether each is closed, and its addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.addresses += [
            value or "" for key, value in attrs if key in ("href", "src", "action", "data", "xlink:href")
        ]
        self.handlers += [key for key, _ in attrs if key.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The report of the short campaign."""
    with short_campaign(tmp_path_factory.mktemp("short")) as campaign:
        return render(campaign)


@pytest.mark.parametrize(
    ("anchor", "words"),
    [
        ("summary", "nearness 6.5 (+1.5 to the seed) is the score of number/6 ."),
        ("summary", "The score is witnessed, at isolation level reduced."),
        ("summary", "The campaign is running (process "),
        ("summary", "Candidates were isolated at the level reduced only"),
        ("task", "Find the number."),
        ("task", "nearness: larger is better; deterministic"),
        ("task", "budget 30programs"),
        ("task", "promotion none: no case is held out"),
        ("found", "score nearness 6.5 (+1.5 to the seed)"),
        ("found", "Early 3 +3.5 yes Later 2025 8 -1.5 no arXiv:1"),
        ("found", "size 6.5"),
        ("found", "beside each line the record that wrote it"),
        ("course", "The best nearness so far against evaluated programs."),
        ("course", "2 steps along first parents led from the seed to the best program."),
        ("course", "number/2 tune_literals 6 +1 witnessed, reduced number/6 tune_literals 6.5 +0.5"),
        ("failed", "crashed it divided by zero 1 number/4"),
        ("failed", "screened duplicate of a program that was proposed before 1 number/5"),
        ("failed", "tune_literals 5 1 4 2 50%"),
        ("cost", "evaluated 4 programs, 0 measurements"),
        ("cost", "No model was called: no tokens and no money."),
        ("environment", "workers 2"),
        ("environment", "machine one core, isolation reduced"),
        ("environment", 'budget ["30programs"] []'),
        ("verify", "evolve campaign replay number computes"),
        ("verify", "evolve program show number/6 --code prints"),
        ("uncertain", "This is one campaign with one random seed"),
        ("uncertain", "The task declares itself deterministic"),
        ("uncertain", "No case is held out"),
    ],
)
def test_a_report_says(short, anchor, words):
    assert words in read_section(short, anchor)


def test_a_report_names_no_folder(tmp_path):
    """A report leaves the machine."""
    members = [{"name": "mail", "kind": "mailbox", "settings": {"folder": "/home/somebody/mail"}}]
    with Written(tmp_path, models={"members": members}).campaign as campaign:
        page = render(campaign)
    assert "…/mail" in page
    assert "somebody" not in page
    assert str(tmp_path) not in page
    assert format_setting({"a": ["~/secret/b", 1]}) == '{"a": ["…/b", 1]}'


def test_a_report_asks_nobody_for_anything(short):
    """Its policy forbids it, too."""
    assert "default-src 'none'" in short
    assert not re.search(r"<script|<link|@import|url\(", short)
    assert "<!doctype html>\n<!-- evolve report -->\n<html lang=" in short[:100]


def test_a_task_with_aims(tmp_path):
    with aiming_campaign(tmp_path) as campaign:
        page = render(campaign)
    task, found = (read_section(page, each) for each in ("task", "found"))
    assert "objective length (max) objective seconds (min) constraint memory at most 200" in task
    assert "seconds (min) against length (max)" in found
    assert "number/2 2 8 1 measurement witnessed, reduced" in found


def test_a_proven_value_is_promoted_by_its_certificate(tmp_path):
    """A seed that nothing beats is not."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.certificate(1, 5.0)
    assert "promoted no" in report_section(written.campaign, "found")
    written.proposal(7.0)
    written.certificate(3, 7.0)
    with written.campaign as campaign:
        page = render(campaign)
    assert "certified yes, by record number/4 promoted yes, by its certificate" in read_section(page, "found")
    assert "proven by the task in exact arithmetic (record number/4)" in read_section(page, "summary")


@pytest.mark.parametrize(
    ("gains", "verdict", "row"),
    [
        (
            (0.2,),
            "The program is promoted: most of the gain is gone on held-out cases: 10% of it is left on average.",
            "case 0 number/4 5 5.2 +0.2 10% yes",
        ),
        (
            (2.0, 2.0, -0.1),
            "The program is not promoted: held-out cases keep 65%",
            "case 2 number/8 5 4.9 -0.1 -5% no",
        ),
        (
            (2.0, 2.0, 0.0),
            "The program is promoted: held-out cases keep 67% of the gain on average.",
            "case 2 number/8 5 5 +0 0% yes",
        ),
    ],
)
def test_held_out_cases_stand_in_a_table(tmp_path, gains, verdict, row):
    with held_out_campaign(tmp_path, *gains) as campaign:
        found = report_section(campaign, "found")
    assert verdict in found
    assert row in found


def test_a_curve_that_minimises_falls(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("error", "min", 4)))
    written.seed(5.0)
    written.proposal(3.0)
    with written.campaign as campaign:
        assert "number/2 tune_literals 3 -2" in report_section(campaign, "course")


def test_a_campaign_without_a_record(tmp_path):
    with Written(tmp_path).campaign as campaign:
        page = render(campaign)
    assert "Nothing was evaluated yet. There is nothing to report." in read_section(page, "summary")
    assert read_section(page, "course").endswith("No program has a score yet.")


def test_a_seed_that_nothing_beats(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(4.0)
    with written.campaign as campaign:
        page = render(campaign)
    assert "No improvement: no program is better than the seed" in read_section(page, "summary")
    assert read_section(page, "course").endswith("The best program is the seed.")


def test_a_seed_that_failed(tmp_path):
    written = Written(tmp_path)
    written.failure(Outcome.CRASHED, "it divided by zero", parents=())
    with written.campaign as campaign:
        page = render(campaign)
    assert "There is no best program: the seed has failed" in read_section(page, "summary")
    assert "crashed it divided by zero 1 number/1" in read_section(page, "failed")


def test_no_program_meets_the_constraints(tmp_path):
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1, 1, 400))
    with written.campaign as campaign:
        assert "least violation 1, by number/1; memory 400, wanted at most 200." in report_section(campaign, "summary")


def test_lessons_and_rulings(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    best = written.proposal(9.0)
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(LessonWritten(Lesson("look left", "person")))
            campaign.write(LessonWritten(Lesson("look right", "reflect", 2)))
            campaign.write(Ruled("quarantine", best.record.program, "bound", "beyond 8"))
        failed = report_section(campaign, "failed")
    assert "look left person look right reflect number/2" in failed
    assert "number/2 bound beyond 8" in failed


def test_costs_of_models(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.called(Call("small", prompt_tokens=900, completion_tokens=100, cost=0.02, seconds=2.0, exact=True))
    written.proposal(7.0, operator="diff", model="small")
    with written.campaign as campaign:
        page = render(campaign)
    assert "small 1 0 900 0 100 0.020 usd 2 s 100%" in read_section(page, "cost")
    assert "Prompt and reply: evolve model calls number --step 2" in read_section(page, "course")
    assert "evolve model calls number lists" in read_section(page, "verify")
    assert "estimated" not in read_section(page, "uncertain")


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
    """Control characters and direction marks are left out, and stand in code by their numbers."""
    with hostile_campaign(tmp_path, hostile) as campaign:
        page = render(campaign, TaskPicture(svg=f"<svg>{hostile}</svg>"))
    tags = Tags(page)
    assert (tags.seen <= OURS, tags.handlers, tags.open) == (True, [], [])
    assert all(each.startswith(("#", "data:image/svg+xml;base64,")) for each in tags.addresses)
    assert all(character.isprintable() or character == "\n" for character in page)
    assert "49" not in read_section(page, "task")
    assert page.encode()


def test_a_picture_that_failed_says_why(tmp_path):
    with short_campaign(tmp_path) as campaign:
        page = render(campaign, TaskPicture(why="the evaluator is gone"))
    assert "There is no picture of the result: the evaluator is gone" in read_section(page, "found")


def test_settings_that_differ_from_the_defaults_are_found(tmp_path):
    """The task, and the number of workers, which a machine decides, are none of them."""
    written = Written(tmp_path, archive={"islands": 7}, workers=9)
    with written.campaign as campaign:
        found = {each.key: each for each in find_changed_settings(campaign.settings.model_dump(mode="json"))}
    assert found["archive.islands"] == ChangedSetting("archive.islands", 7, 4)
    assert not {"task", "workers"} & found.keys()


def test_each_machine_stands_once(tmp_path):
    written = Written(tmp_path)
    written.run_at("strict")
    written.run_at("reduced")
    with written.campaign as campaign:
        environment = report_section(campaign, "environment")
    assert "machine one core, isolation reduced machine one core, isolation strict" in environment


def test_a_short_line_is_detailed_as_a_whole(tmp_path):
    with short_campaign(tmp_path) as campaign:
        line = read_steps(campaign, 6)
    assert [(step.line.record, step.detailed) for step in line] == [(1, False), (2, True), (6, True)]
    (change,) = line[2].changes
    assert (change.path, change.added, change.removed) == ("seed.py", 1, 1)


def test_of_a_long_line_the_largest_changes_and_the_last_steps_are_detailed(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    fitness = 5.0
    for place in range(2, 42):
        fitness += 1.0 if place == 9 else 0.001 * (place % 2) + 0.0005
        written.proposal(fitness, parents=(place - 1,))
    with written.campaign as campaign:
        line = read_steps(campaign, 41)
    detailed = [step.line.record for step in line if step.detailed]
    assert (len(line), len(detailed)) == (41, 24)
    assert detailed[-4:] == [38, 39, 40, 41]
    assert 9 in detailed
    assert all(step.changes == () for step in line if not step.detailed)


def test_further_parents_have_names(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.proposal(6.0)
    written.proposal(7.0, parents=(2, 1), operator="crossover", model="small")
    with written.campaign as campaign:
        assert "Further parents: number/1" in report_section(campaign, "course")
