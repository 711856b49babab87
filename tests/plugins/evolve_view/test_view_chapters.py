"""The chapters of a report, on small campaigns and on one where everything that others wrote is hostile."""

import re

import pytest

from evolve.types import Anchor, Call, Fitness, Lesson, LessonWritten, Origin, Outcome, Program, Ruled
from evolve_view.documents import ChartFigure
from evolve_view.findings import TaskPicture
from evolve_view.markdown import render_markdown
from evolve_view.rendering import render_document
from tests.plugins.evolve_view.reports import HOSTILE, MARK, both, chapter, held_out_campaign, reported
from tests.plugins.evolve_view.test_view_markdown import KINDS, kinds
from tests.plugins.evolve_view.test_view_rendering import OURS, Tags
from tests.written import Written, aiming_campaign, number_task, short_campaign


@pytest.fixture
def short(tmp_path):
    with short_campaign(tmp_path) as campaign:
        yield campaign


def test_what_was_asked(short):
    told = chapter(short, "asked")
    assert "a score is: nearness: larger is better. The task is deterministic" in told
    assert "budget: 30programs" in told
    assert "No case is held out, so that no program can be promoted." in told
    assert "Early |  | 3 | \nLater | 2025 | 8 | arXiv:1" in told


def test_what_was_asked_of_a_task_with_aims(tmp_path):
    with aiming_campaign(tmp_path) as campaign:
        told = chapter(campaign, "asked")
    assert "Objectives beside it: length (max), seconds (min)." in told
    assert "Constraint: memory must be at most 200." in told


def test_what_was_found(short):
    told = chapter(short, "found")
    assert "score: nearness 6.5 (+1.5 to the seed)" in told
    assert "Early | 3 | +3.5 | yes | \nLater 2025 | 8 | -1.5 | no | arXiv:1" in told
    assert "size | 6.5" in told


def test_what_is_not_promoted_is_told_why(tmp_path):
    """It is worse than the seed somewhere."""
    with held_out_campaign(tmp_path, 2.0, 2.0, -0.1) as campaign:
        told = chapter(campaign, "found")
    assert "The program is not promoted: on 1 of 3 cases it is worse than the seed; held-out cases keep 65%" in told
    assert "case 2 | number/8 | 5 | 4.9 | -0.1 | -5% | worse" in told


def test_a_proven_value_is_promoted_by_its_certificate(tmp_path):
    """Of a task whose programs are promoted so; a seed that nothing beats is not."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed(5.0)
    written.certificate(1, 5.0)
    assert "promoted: no" in chapter(written.campaign, "found")
    written.proposal(7.0)
    written.certificate(3, 7.0)
    with written.campaign as campaign:
        assert "certified: yes, by record number/4\npromoted: yes, by its certificate" in chapter(campaign, "found")


def test_the_front_is_drawn_and_listed(tmp_path):
    with aiming_campaign(tmp_path) as campaign:
        told = chapter(campaign, "found")
    assert "The front: seconds (min) against length (max)." in told
    assert "number/2 | 2 | 8 | 7 | 1 measured | witnessed, reduced" in told


def test_held_out_cases_stand_in_a_table(tmp_path):
    with held_out_campaign(tmp_path, 0.2) as campaign:
        told = chapter(campaign, "found")
    assert "The program is promoted: most of the gain is gone on held-out cases: 10% of it is left on average." in told
    assert "case 0 | number/4 | 5 | 5.2 | +0.2 | 10% | better" in told


def test_each_held_out_case_stands_once_in_the_chapter(tmp_path):
    """Also one on which the program equals the seed, which has lost nothing there."""
    with held_out_campaign(tmp_path, 2.0, 2.0, 0.0) as campaign:
        told = chapter(campaign, "found")
    assert "The program is promoted: held-out cases keep 67% of the gain on average." in told
    assert "case 2 | number/8 | 5 | 5 | +0 | 0% | equal" in told
    assert told.count("case 2") == 1


def test_the_curve_says_what_its_table_leaves_out(tmp_path):
    written = Written(tmp_path, number_task())
    written.seed(1.0)
    for number in range(2, 25):
        written.proposal(float(number))
    with written.campaign as campaign:
        told = chapter(campaign, "course")
    assert "it got better 23 times. The table has the last 20 of 24 points." in told


def test_how_it_came_about(short):
    told = chapter(short, "course")
    assert "The best nearness so far against judged programs; it got better 2 times." in told
    assert "From number/1 to the best program it took 2 steps, along first parents." in told
    assert "number/2 | tune_literals | 6 | +1 | witnessed, reduced\nnumber/6 | tune_literals | 6.5 | +0.5" in told


def test_the_lines_are_told_by_who_wrote_them(short):
    told = chapter(short, "course")
    assert "number/1 | 1 line | seed | -\nnumber/6 | 1 line | tune_literals | +0.5" in told


def test_a_curve_that_minimises_falls(tmp_path):
    written = Written(tmp_path, number_task(fitness=Fitness("error", "min", 4)))
    written.seed(5.0)
    written.proposal(3.0)
    with written.campaign as campaign:
        told = chapter(campaign, "course")
    assert "number/2 | tune_literals | 3 | -2" in told


def test_a_campaign_without_a_score_has_no_curve(tmp_path):
    with Written(tmp_path).campaign as campaign:
        assert chapter(campaign, "course") == "No program has a score yet."


def test_what_did_not_work(short):
    told = chapter(short, "failed")
    assert "crashed | it divided by zero | 1 | number/4" in told
    assert "screened | duplicate of a program that was proposed before | 1 | number/5" in told
    assert "tune_literals | 5 | 1 | 4 | 2 | 50%" in told


def test_lessons_and_rulings_are_told(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    best = written.proposal(9.0)
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(LessonWritten(Lesson("look left", "person")))
            campaign.write(LessonWritten(Lesson("look right", "reflect", 2)))
            campaign.write(Ruled("quarantine", best.record.program, "bound", "beyond 8"))
        told = chapter(campaign, "failed")
        doubts = chapter(campaign, "uncertain")
    assert "look left | a person's hint | \nlook right | reflect | number/2" in told
    assert "number/2 | bound | beyond 8" in told
    assert "1 program quarantined: a ruling by a rule or a person" in doubts


def test_what_it_cost_without_a_model(short):
    told = chapter(short, "cost")
    assert "judged: 4 programs, 0 measurements" in told
    assert "No model was called: no tokens and no money." in told


def test_what_models_cost_and_how_the_curve_goes_with_it(tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    written.called(Call("small", prompt_tokens=900, completion_tokens=100, cost=0.02, seconds=2.0, exact=True))
    written.proposal(7.0, operator="diff", model="small")
    with written.campaign as campaign:
        told, course, doubts = (chapter(campaign, each) for each in ("cost", "course", "uncertain"))
        verify = chapter(campaign, "verify")
    assert "small | 1 | 0 | 900 | 100 | 0.02 usd | 2 s | 100%" in told
    assert "The steps from the seed to the best program took 1 call, 1,000 tokens and 0.02 usd." in told
    assert "all calls cost 1,000 tokens and 0.02 usd for each." in told
    assert "Prompt and answer: evolve model calls number --step 2" in course
    assert "estimated" not in doubts
    assert "evolve model calls number: " in verify


def test_where_it_ran(short):
    told = chapter(short, "environment")
    assert "judge slots: 2" in told
    assert "one core | reduced" in told
    assert 'budget | ["30programs"] | []' in told


def test_a_setting_names_no_folder(tmp_path):
    """A report leaves the machine."""
    members = [{"name": "mail", "kind": "mailbox", "settings": {"folder": "/home/somebody/mail"}}]
    with Written(tmp_path, models={"members": members}).campaign as campaign:
        told = chapter(campaign, "environment")
    assert "…/mail" in told
    assert "somebody" not in told


def test_how_to_verify(short):
    told = chapter(short, "verify")
    assert "evolve campaign replay number: " in told
    assert "evolve program show number/6 --code: " in told
    assert str(short.log.path.parent) not in told


def test_what_is_uncertain(short):
    told = chapter(short, "uncertain")
    assert "This is one campaign with one seed." in told
    assert "The task declares itself deterministic" in told
    assert "No case is held out" in told
    assert "Candidates were isolated at the level reduced, and not at strict" in told


def test_a_noisy_best_that_is_not_confirmed_is_luck_in_part(tmp_path):
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0)
    written.proposal(7.0, standard_error=0.1)
    with written.campaign as campaign:
        told = chapter(campaign, "uncertain")
    assert "The best score is not confirmed: it is the largest of 1 program, and some of that is luck." in told


def test_a_seed_that_failed_says_why(tmp_path):
    written = Written(tmp_path)
    written.failure(Outcome.CRASHED, "it divided by zero", parents=())
    with written.campaign as campaign:
        assert "There is no best program: the seed has failed" in chapter(campaign, "summary")
        assert "crashed | it divided by zero | 1 | number/1" in chapter(campaign, "failed")
        assert chapter(campaign, "found") == "No program holds the first place."


def test_both_kinds_of_failures_say_that_only_the_last_were_looked_at(tmp_path, monkeypatch) -> None:
    """They are read together: a few that were judged among many that were not are not all that there are."""
    for module in ("evolve.report.failing", "evolve_view.chapters"):
        monkeypatch.setattr(f"{module}.LOOKED_AT", 3)
    written = Written(tmp_path)
    written.seed(5.0)
    for outcome in (Outcome.CRASHED, Outcome.CRASHED, Outcome.SCREENED, Outcome.SCREENED):
        written.failure(outcome, "no")
    told = chapter(written.campaign, "failed")
    assert "what the judge said first (of the last 3 failures of both kinds)" in told
    assert "by their reasons (of the last 3 failures of both kinds)" in told


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
