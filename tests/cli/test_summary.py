"""Words of `evolve run` at its beginning and at its end."""

from dataclasses import replace

import pytest

from evolve import report
from evolve.cli import summary
from evolve.cli.summary import failure_of, format_beginning
from evolve.engine import Ending
from evolve.stop import any_of, parse
from evolve.types import Call, Evaluation, Outcome, Previewed, Program, ProgramId, Progress, SandboxError
from tests.written import Written, aimed, aiming_campaign, aiming_task, number_task, short_campaign


@pytest.fixture
def campaign(tmp_path):
    """Six records."""
    with short_campaign(tmp_path) as campaign:
        yield campaign


def words(campaign, reason="budget", left=0) -> str:
    """The closing words."""
    return summary.format_end(campaign, Ending(reason, left))


def test_the_end_says_where_everything_is_and_what_to_type_next(campaign):
    """Best, anchors, certificate, isolation, log, commands."""
    text = words(campaign)
    for line in (
        "campaign number ended: its budget is spent (4 programs evaluated in 0 s).",
        "best       number/6  nearness 6.5 (+1.5 to the seed)",
        "anchors    +3.5 to Early (3)",
        "           -1.5 to Later 2025 (8)",
        "certified  no, this task has no certificates",
        "outcomes   ok 4, crashed 1, screened 1",
        "operators  tune_literals: 4 evaluated, 50% better than their parents, 1 screened",
        "isolation  reduced",
        f"log        {campaign.log.path}",
        "next       evolve program show number/6 --code",
        "           evolve run --continue number --budget 60programs",
        "           evolve report number",
    ):
        assert line in text, line


def test_the_end_says_what_models_have_cost(tmp_path):
    """In words and as a value; a campaign without models says nothing of it."""
    written = Written(tmp_path)
    written.seed()
    written.called(Call("small", prompt_tokens=1000, completion_tokens=200, cost=0.5, gpu_seconds=90.0))
    written.proposal(6.0, operator="diff", model="small")
    with written.campaign as campaign:
        end, text = summary.describe_end(campaign, Ending("budget", 0)), words(campaign)
    assert (end["calls"], end["tokens"], end["money"], end["gpu_seconds"]) == (1, 1200, 0.5, 90.0)
    assert (
        "models     small: 1 evaluated, 100% better than their parents\nspent      1 call, 1,200 tokens, 0.50 usd, 90 GPU"
        in text
    )


def test_without_models_nothing_is_said_of_costs(campaign):
    """Neither of models nor of calls."""
    assert "\nspent" not in words(campaign)
    assert "\nmodels" not in words(campaign)


@pytest.mark.parametrize(
    ("reason", "left", "expected"),
    [
        ("interrupted", 1, "everything that had settled is kept"),
        ("exhausted", 0, "its operators propose nothing new any more"),
        ("interrupted", 1, "1 begun step goes on with --continue"),
        ("budget", 6, "6 begun steps go on with --continue"),
    ],
)
def test_the_end_says_why(campaign, reason, left, expected):
    """In a sentence."""
    assert expected in words(campaign, reason, left)


def test_one_program_is_told_in_the_singular(tmp_path):
    """The seed is none of the budget's."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(4.0)
    with written.campaign as campaign:
        assert "(1 program evaluated in" in words(campaign)


@pytest.mark.parametrize(
    ("reason", "evaluated", "faults", "fails"),
    [("budget", 4, 4, True), ("budget", 5, 4, False), ("budget", 0, 0, False), ("interrupted", 4, 4, False)],
)
def test_a_run_whose_evaluations_all_failed_by_no_fault_of_a_program_is_an_error(
    campaign, reason, evaluated, faults, fails
):
    """Whoever interrupted it knows. One that could evaluate some says how it ended."""
    ending = Ending(reason, 0, evaluated=evaluated, faults=faults, suspended=True)
    assert isinstance(failure_of(campaign, ending), SandboxError) is fails
    assert "At the end evaluations failed by no fault of a program" in summary.format_end(campaign, ending)


def test_no_improvement_is_said(tmp_path):
    """The seed stays the best."""
    written = Written(tmp_path)
    written.seed()
    written.proposal(4.0)
    with written.campaign as campaign:
        assert "no improvement: no program was better than the seed" in words(campaign)


def test_a_campaign_where_nothing_passed_says_so(tmp_path):
    """It has nothing to show, and says how to go on."""
    written = Written(tmp_path)
    written.failure(Outcome.WRONG, "no", parents=())
    with written.campaign as campaign:
        text = words(campaign)
    assert "none: no program has passed, not even the seed" in text
    assert "program show" not in text


def test_a_certificate_says_where_it_is(tmp_path):
    """Or that there is none yet."""
    written = Written(tmp_path, number_task(promotion="certificate"))
    written.seed()
    written.certificate(1, 5.0)
    with written.campaign as campaign:
        assert "yes, the task proved this value: evolve program show number/2" in words(campaign)
        proof = report.best(campaign)
        unproved = type(proof)(**{name: getattr(proof, name) for name in proof.__slots__} | {"certified": False})
        assert ("certified", "no, the campaign ended before the task proved this value; more budget does") in (
            summary.format_best_program(campaign, unproved, None)
        )


def test_the_last_line_of_json_is_the_end_as_a_value(campaign):
    """With the best."""
    end = summary.describe_end(campaign, Ending("exhausted", 2))
    assert (end["event"], end["campaign"], end["reason"], end["left"]) == ("ended", "number", "exhausted", 2)
    assert (end["programs"], end["records"], end["isolation"], end["best"].name) == (4, 6, "reduced", "number/6")
    assert (end["best"].isolation, end["best"].trust) == ("reduced", "witnessed")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("60s",), ["120s"]),
        (("60s", "500programs"), ["120s", "1000programs"]),
        (("1.5h",), ["3h"]),
        (("until=07:30",), []),
        ((), []),
    ],
)
def test_the_next_budget_is_twice_the_amounts(texts, expected):
    """A time of the day is not doubled."""
    assert summary.enlarge(any_of([parse(text, 0.0) for text in texts])) == expected


def test_objectives_and_the_front_are_told_in_the_users_direction(tmp_path):
    """With digits and direction, at the end and in JSON."""
    with aiming_campaign(tmp_path) as campaign:
        text, end = words(campaign), summary.describe_end(campaign, Ending("budget", 0))
    for line in (
        "best        number/2  nearness 7 (+2 to the seed)",
        "objectives  length 2 (max), seconds 8 (min)",
        "front       3 programs, hypervolume 4.5 beyond length 1, seconds 10",
    ):
        assert line in text, line
    assert (end["front"].members, end["closest"]) == (3, None)


def test_a_campaign_where_none_meets_the_constraints_says_so(tmp_path):
    """And who is the closest."""
    written = Written(tmp_path, aiming_task())
    written.seed(5.0, **aimed(1.0, 10.0, 300.0))
    with written.campaign as campaign:
        text, end = words(campaign), summary.describe_end(campaign, Ending("budget", 0))
    assert (
        "best       none meets the constraints yet\n"
        "           least violation 0.5, by number/1\n"
        "           memory 300, wanted at most 200\n"
        "front      0 programs, hypervolume 0 beyond length 1, seconds 10"
    ) in text
    assert (end["best"], end["closest"].name) == (None, "number/1")


def test_the_end_says_how_many_calls_failed_and_why(tmp_path):
    """Per model, with the last reason on one line."""
    written = Written(tmp_path)
    written.seed()
    written.called(Call("bad", error="it exited with 3:\nno such file"), Call("bad"))
    with written.campaign as campaign:
        end, text = summary.describe_end(campaign, Ending("budget", 0)), words(campaign)
    assert "failed     bad: 1 of 2 calls failed, at last: it exited with 3: | no such file\n" in text
    assert "spent      2 calls (1 failed), 0 tokens\n" in text
    assert end["failed_calls"] == 1


def test_the_end_counts_notes_and_lessons(tmp_path):
    """They are no screened proposals."""
    written = Written(tmp_path)
    written.seed()
    written.reflection("small", "Sort first.", "Keep it short.")
    with written.campaign as campaign:
        text = words(campaign)
    assert "outcomes   ok 1\noperators  1 note, 2 lessons\n" in text


def ended_by(**fields) -> Ending:
    """A run that ended for this reason."""
    return Ending(**{"reason": "budget", "left": 0, **fields})


UNPAID = "model 'm': the budget 60programs does not pay for one more call: it may take 17,500 tokens. Try: nothing"


def test_a_budget_that_pays_for_no_call_says_so_and_what_would(campaign):
    """Twice as much may not be enough."""
    end = ended_by(unpaid=UNPAID, wanted=Progress(programs=174), answered=1)
    text = summary.format_end(campaign, end)
    assert "ended: what is left of its budget pays for no call of a model (" in text
    assert "it may take 17,500 tokens. Try: evolve run --continue number --budget 180programs" in text
    assert "its budget is spent" not in text
    assert summary.enlarge(any_of([parse("0.01usd", 0.0)]), Progress(money=0.0321)) == ["0.033usd"]


def test_a_run_whose_budget_pays_for_no_call_at_all_is_an_error(campaign):
    """A budget that paid for some has done what it could."""
    told = summary._without_answer(campaign, ended_by(unpaid=UNPAID, wanted=Progress(programs=174)))
    assert "made no call of a model in this run" in told
    assert "--budget 180programs" in told
    assert summary._without_answer(campaign, ended_by(unpaid=UNPAID, answered=1)) == ""


def test_a_run_whose_every_reply_was_unusable_says_why(campaign):
    reasons = {"no block": 9, "it is cut off": 2, "no code": 1, "too long": 1}
    text = summary.format_end(campaign, ended_by(answered=13, unusable=reasons))
    assert "No proposal of a model could be evaluated: 9 x no block; 2 x it is cut off; 1 x no code; and 1 more" in text
    assert "Try: read the replies, evolve model calls number" in text


def test_a_run_in_which_every_call_failed_is_an_error(campaign):
    """It quotes the last failure; one answer is enough to be none."""
    failed = {"failed": 12, "failure": "the program ended with status 3. Try: run it by hand"}
    told = summary._without_answer(campaign, ended_by(**failed))
    assert "all 12 calls of models failed, the last one: the program ended with status 3. Try: run it by hand" in told
    assert summary._without_answer(campaign, ended_by(**failed, answered=1)) == ""
    assert summary._without_answer(campaign, ended_by()) == ""


def refused(tmp_path, **values) -> str:
    """What is said of a campaign whose one operator was refused, and whose others were asked for nothing."""
    written = Written(tmp_path, **values)
    written.seed()
    for _ in range(8):
        written.failure(Outcome.SCREENED, "no number in seed.py. Try: write one")
    with written.campaign as campaign:
        end = ended_by(reason="exhausted", refusal="no number in seed.py. Try: write one")
        return summary._without_proposal(campaign, end)


def test_who_was_not_heard_is_not_blamed_for_finding_nothing(tmp_path):
    """Neither operators that were not asked nor a model that did not answer."""
    models = {"members": [{"name": "m", "kind": "command", "settings": {"argv": ["m"]}}]}
    told = "campaign 'number' found nothing to try: tune_literals proposed nothing that could be evaluated (the last one: no number in seed.py. Try: write one)"
    assert f"{told}. Try: give the seed numbers to tune" in refused(tmp_path / "without")
    silent = refused(tmp_path / "with", models=models)
    assert f"{told}, and no model answered. Try: give the seed numbers to tune" in silent
    assert "what the models wrote" not in silent


def test_the_end_names_who_was_left_out(tmp_path):
    """With the reason."""
    written = Written(tmp_path)
    written.seed()
    for _ in range(8):
        written.failure(Outcome.SCREENED, "no number in seed.py. Try: write one")
    with written.campaign as campaign:
        assert "\nleft out   tune_literals: no number in seed.py\n" in words(campaign)


def test_what_proposes_nothing_new_is_not_continued(campaign):
    """Another seed may find something."""
    text = words(campaign, "exhausted")
    assert "--continue" not in text
    assert "evolve campaign fork number --seed 1" in text


def test_after_an_interrupt_the_rest_of_the_budget_comes_next(campaign):
    assert "evolve run --continue number\n" in words(campaign, "interrupted")


def test_the_end_counts_previews(campaign):
    with campaign.log.transaction():
        campaign.write(Previewed(9, 0, ProgramId("0" * 16), Evaluation.ok(1.0)))
    assert "(4 programs and 1 preview evaluated in 0 s)" in words(campaign)


def test_the_next_budget_is_one_that_is_not_spent(tmp_path):
    """Somebody has lowered it meanwhile."""
    written = Written(tmp_path)
    written.seed()
    written.called(Call("small", prompt_tokens=10_000, completion_tokens=200))
    with written.campaign as campaign:
        campaign.change({"budget": ["3000tokens"]})
        assert summary.enlarge(campaign.budget, spent=campaign.progress) == ["12000tokens"]


def test_the_beginning_says_what_is_set(tmp_path):
    """A campaign that goes on says after how many records."""
    with short_campaign(tmp_path) as campaign:
        text = format_beginning(campaign, "reduced: a process of its own")
    assert text.startswith(
        "campaign number goes on after 6 records: islands, 2 workers, seed 0, budget 30programs\n"
        "no model: tune_literals, mutate_ast propose without one (--model NAME lets a language model propose, too)\n"
        "isolation reduced: a process of its own\n"
    )
    with Written(tmp_path / "other", name="fresh", budget=[], workers=1).campaign as fresh:
        text = format_beginning(fresh, "reduced")
    assert "campaign fresh begins: islands, 1 worker, seed 0, no budget: Ctrl-C ends it" in text


def test_the_beginning_names_no_operator_that_is_left_out(tmp_path):
    """`mutate_ast` is for Python alone."""
    task = replace(number_task(), seed=Program({"number.c": "double x = 5.0;\n"}), entry="")
    with Written(tmp_path, task, name="in_c").campaign as campaign:
        assert "\nno model: tune_literals proposes without one (--model" in format_beginning(campaign, "reduced")


def test_the_beginning_says_where_answers_are_awaited(tmp_path, monkeypatch):
    """A mailbox waits for whoever writes into its folder."""
    monkeypatch.chdir(tmp_path)
    here = {"name": "me", "kind": "mailbox", "settings": {"folder": str(tmp_path / "mbp")}}
    there = {"name": "you", "kind": "mailbox", "settings": {"folder": "/mail"}, "concurrency": 2}
    with Written(tmp_path, models={"members": [here, there]}).campaign as campaign:
        assert (
            "\nmodels me (mailbox, 8 at once, answers awaited in mbp/), you (mailbox, 2 at once, answers awaited in /mail/)"
            "; tune_literals, mutate_ast propose beside them, without calls\n"
        ) in format_beginning(campaign, "reduced")


def test_a_larger_budget_in_whole_units_is_a_whole_one():
    """As it is written down, it is read."""
    budget = parse("3evaluations", 0.0)
    assert summary.enlarge(budget, spent=Progress(evaluations=6)) == ["7evaluations"]
