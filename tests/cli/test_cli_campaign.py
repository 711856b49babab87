"""`evolve campaign`: list, show, replay and campaign files."""

import json

import pytest

from evolve.campaign import Campaign
from evolve.campaign.state import NOISE, Difference
from evolve.log import Log
from evolve.plugins import load
from evolve.types import Asked, Call, Fitness, Insertion, Measure, Outcome, Paused, Placement, Propose, Ruled, Selection
from tests.written import Written, number_task


def records(result) -> list[dict]:
    """What stdout holds, which is JSON alone."""
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_empty_workspace_says_what_to_do(call):
    """It is no error."""
    result = call("campaign")
    assert result.exit_code == 0
    assert "Try: evolve run online_bin_packing" in result.stdout
    assert call("campaign", "list", "--json").stdout == ""


def test_campaigns_are_listed(call, short):
    """List is the default verb."""
    Written(short, name="second").campaign.close()
    lines = call("campaign").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["campaign", "second", "number"]
    found = records(call("campaign", "list", "--json"))
    assert [(line["name"], line["task"], line["strategy"], line["budget"]) for line in found] == [
        ("second", "number", "islands", ["30programs"]),
        ("number", "number", "islands", ["30programs"]),
    ]
    assert [line["events"] for line in found] == [2, 8]


def test_a_changed_budget_is_the_one_that_is_listed(call, home):
    """And a log without a first event is listed with that problem."""
    written = Written(home)
    written.campaign.change({"budget": ["90programs"]})
    written.campaign.close()
    Log.create(home / "archive" / "campaigns" / "empty.db").close()
    found = {line["name"]: line for line in records(call("campaign", "list", "--json"))}
    assert found["number"]["budget"] == ["90programs"]
    assert "has no first event" in found["empty"]["problem"]


def test_a_campaign_that_somebody_writes_is_running_or_paused(call, home):
    """A pause is of one run: where that has ended, nothing is paused, and it is said how to go on."""

    def told():
        (line,) = records(call("campaign", "list", "--json"))
        return line["state"], call("campaign", "list").stdout.splitlines()[1].split()[-1]

    written = Written(home)
    assert told() == ("running", "running")
    with written.campaign.log.transaction():
        written.campaign.write(Paused(True))
    assert told() == ("paused", "paused")
    assert "paused: nothing new is started until evolve campaign unpause number" in call("campaign", "show").stdout
    written.campaign.close()
    assert told()[0] == ""
    shown = call("campaign", "show").stdout
    (page,) = records(call("campaign", "show", "--json"))
    assert page["paused"] is False
    assert "no run is under way: the last one ended while it was paused; evolve run --continue number goes on" in shown


@pytest.mark.parametrize(
    ("direction", "told"),
    [
        ("max", "QD score 5: the best fitness of each cell, added up\n"),
        ("min", "QD score -5: the best fitness of each cell, added up, with a minus, as smaller is better\n"),
    ],
)
def test_the_qd_score_is_told_with_what_it_is(call, home, direction, told):
    """Inside, larger is better."""
    written = Written(home, number_task(fitness=Fitness("nearness", direction, 6)))
    written.seed(5.0)
    written.campaign.close()
    assert told in call("campaign", "show").stdout


def test_steps_that_are_not_settled_wait_only_where_nothing_runs(call, home):
    """They are under way as long as a process writes the log."""
    written = Written(home)
    written.seed(5.0)
    with written.campaign.log.transaction():
        written.campaign.write(Asked(written.next, Propose(Selection("tune_literals", parents=(1,))), written.next - 1))
    assert "1 step under way" in call("campaign", "show").stdout
    written.campaign.close()
    told = "1 begun step goes on with --continue\n"
    assert told in call("campaign", "show").stdout


@pytest.mark.parametrize("content", [b"not a log at all, just some text", b""])
def test_a_file_that_is_no_log_is_listed_with_its_problem(call, short, content):
    """The others are listed all the same."""
    (short / "archive" / "campaigns" / "odd.db").write_bytes(content)
    found = {line["name"]: line["problem"] for line in records(call("campaign", "list", "--json"))}
    assert found["number"] == ""
    assert found["odd"] != ""


def test_a_campaign_is_shown_with_everything_that_matters(call, short):
    """The one written last, if none is named."""
    for result in (call("campaign", "show"), call("campaign", "show", "number")):
        for line in (
            "campaign   number",
            "progress   4 programs evaluated, 1 screened, 0 measurements in 0 s",
            "left       26 programs",
            "best       number/6  nearness 6.5 (+1.5 to the seed)",
            "outcomes   ok 4, crashed 1, screened 1",
            "isolation  reduced",
            '  task = "number"',
        ):
            assert line in result.stdout, line


def test_what_models_have_cost_is_shown(call, home):
    """By operator; and as JSON."""
    written = Written(home)
    written.seed()
    written.called(Call("small", prompt_tokens=1000, completion_tokens=200, cost=0.5, seconds=3.0, exact=True))
    written.proposal(6.0, operator="diff", model="small")
    written.campaign.close()
    shown = call("campaign", "show").stdout
    for line in (
        "spent             1 call, 1,200 tokens, 0.50 usd",
        "cost by operator  diff: 1 call, 1,200 tokens, 0.50 usd",
    ):
        assert line in shown, line
    (page,) = records(call("campaign", "show", "--json"))
    assert page["costs"]["total"]["money"] == 0.5


def test_a_campaign_is_shown_as_json(call, short):
    """One object."""
    (page,) = records(call("campaign", "show", "number", "--json"))
    assert (page["name"], page["best"]["name"], page["outcomes"]["ok"]) == ("number", "number/6", 4)


def test_an_unknown_campaign_is_an_error_with_a_suggestion(call, short):
    """Exit code 1."""
    result = call("campaign", "show", "numbr")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("evolve: error: there is no campaign 'numbr'")
    assert "Did you mean 'number'?" in result.stderr


def test_a_replay_equals_what_is_stored(call, short):
    """And has a digest that does not change."""
    first, second = (records(call("campaign", "replay", "number", "--json"))[0] for _ in range(2))
    assert (first["equal"], first["events"], first["records"]) == (True, 8, 6)
    assert first["digest"] == second["digest"]
    assert first["digest"] in call("campaign", "replay").stdout


def test_a_replay_that_differs_is_a_failure_that_names_the_record(call, short, monkeypatch):
    """Exit code 1, on stdout as on a terminal."""
    found = Difference(3, Placement(Insertion.NEW, 0, 1), Placement(Insertion.NOT_ADDED))
    replayed = Campaign.replay

    def different(campaign: Campaign, *given: object) -> Campaign:
        replayed(campaign, *given)
        campaign.state.difference = found
        return campaign

    monkeypatch.setattr(Campaign, "replay", different)
    result = call("campaign", "replay", "number")
    assert result.exit_code == 1
    assert "DIFFERENT from what the log says, first at record 3" in result.stdout
    assert records(call("campaign", "replay", "number", "--json"))[0]["equal"] is False
    assert "difference" in call("campaign", "show", "number").stdout


def test_a_decision_that_differs_is_a_failure_that_names_the_step(call, short):
    """Where the archive is equal; without the option nothing is asked."""
    with Campaign.open("number", load(), short, readonly=False) as campaign, campaign.log.transaction():
        for action in (
            Propose(Selection("tune_literals", 3, (1,), why="a guess")),
            Measure(1, number_task().seed.id, why=NOISE),
        ):
            campaign.write(Asked(campaign.state.last_step + 1, action, campaign.state.progress.records))
        step = campaign.state.last_step - 1
    (plain,) = records(call("campaign", "replay", "--json"))
    assert (plain["equal"], plain["decisions"]) == (True, None)
    told, result = call("campaign", "replay", "--decisions"), call("campaign", "replay", "--decisions", "--json")
    assert (told.exit_code, result.exit_code, call("campaign", "replay").exit_code) == (1, 1, 0)
    assert "archive       equal to what the log says\n" in told.stdout
    assert "decisions     1 compared, 1 DIFFERENT\n" in told.stdout
    assert f"first at step {step}: the log has {{" in told.stdout
    assert "not compared  1 asked by the engine\n" in told.stdout
    found = records(result)[0]["decisions"]
    assert (found["different"], found["first"]["step"], found["left_out"]) == (1, step, {"asked by the engine": 1})


def test_a_certified_campaign_names_its_certificate(call, home):
    """In `show`, too."""
    written = Written(home, number_task(promotion="certificate"))
    written.seed()
    written.certificate(1, 5.0)
    written.campaign.close()
    assert "certified  yes, the task proved this value: evolve program show number/2" in call("campaign", "show").stdout


def test_campaigns_are_listed_with_their_programs_and_their_best(call, home):
    """Without a replay; a program in quarantine is never the best, and a failed seed leaves none."""
    written = Written(home, number_task(fitness=Fitness("nearness", "min", 6)))
    written.seed(5.0)
    caught = written.proposal(1.0)
    written.proposal(2.5)
    written.failure(Outcome.INTERNAL, "the evaluator raised KeyError: 'x'")
    with written.campaign.log.transaction():
        written.campaign.write(Ruled("quarantine", caught.record.program, "integrity", "late write"))
    written.campaign.close()
    (line,) = records(call("campaign", "list", "--json"))
    assert (line["programs"], line["best"]) == (2, 2.5)
    heading, row = call("campaign", "list").stdout.splitlines()
    assert heading.split()[:4] == ["campaign", "task", "best", "programs"]
    assert row.split()[:4] == ["number", "number", "2.5", "2"]
    shown = call("campaign", "show").stdout
    assert "faults       1 by no fault of a program, such as number/4: the evaluator raised KeyError: 'x'\n" in shown


def test_a_fault_is_told_with_its_place(call, home):
    """The last call of its traceback."""
    written = Written(home)
    written.seed()
    trace = 'Traceback (most recent call last):\n  File "a.py", line 3, in evaluate\n  File "b.py", line 7, in help\nKeyError: 5'
    written.failure(Outcome.INTERNAL, f"the evaluator had not answered after 3 s\n\n{trace}")
    written.campaign.close()
    assert "number/2: the evaluator had not answered after 3 s (b.py, line 7)\n" in call("campaign", "show").stdout


def test_a_campaign_whose_seed_failed_is_listed_as_such(call, home):
    """And its best program is asked for in vain."""
    written = Written(home)
    written.failed_seed(Outcome.CRASHED, "no")
    written.campaign.close()
    (line,) = records(call("campaign", "list", "--json"))
    assert line["state"] == "seed failed"
    assert "its seed has failed" in call("program", "show", "best").stderr
