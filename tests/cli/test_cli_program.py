"""`evolve program`: list, show, diff, lineage and blame."""

import csv
import dataclasses
import json

import pytest

from evolve.types import Case, Outcome, Ruled
from tests.plugins.evolve_view.reports import held_out_campaign
from tests.written import Written, aiming_campaign, number_task


def records(result) -> list[dict]:
    """What stdout holds, which is JSON alone."""
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def certified(home):
    """The campaign `number` of a seed with its certificate."""
    written = Written(home, number_task(promotion="certificate"))
    written.seed()
    written.certificate(1, 5.0)
    written.campaign.close()


def test_elites_are_listed_best_first_and_the_best_is_marked(call, short):
    """List is the default verb."""
    lines = call("program").stdout.splitlines()
    assert lines[0].split()[:2] == ["program", "nearness"]
    assert lines[1].split()[:2] == ["number/6*", "6.5"]
    assert sum("*" in line for line in lines) == 1


def test_all_records_are_listed_on_demand(call, short):
    """Failures last, with their outcome instead of a number."""
    found = records(call("program", "list", "number", "--all", "--json"))
    assert [line["id"] for line in found] == [6, 2, 1, 3, 4, 5]
    lines = call("program", "list", "--all").stdout.splitlines()
    assert lines[1].startswith("number/6*")
    assert lines[5].split()[:3] == ["number/4", "-", "crashed"]


@pytest.mark.parametrize(("limit", "expected"), [("2", 2), ("0", 6)])
def test_a_limit_says_how_many(call, short, limit, expected):
    """0 means all."""
    assert len(records(call("program", "list", "--all", "--limit", limit, "--json"))) == expected


def test_a_campaign_without_programs_says_so(call, home):
    """It is no error."""
    Written(home).campaign.close()
    assert call("program", "list").stdout == "campaign number has no programs yet\n"
    assert call("program", "list", "--json").stdout == ""


def test_an_elite_of_a_noisy_task_is_shown_with_the_mean_of_its_judgings(call, home):
    """The score is that of one judging, which chose it and may have been lucky."""
    written = Written(home, dataclasses.replace(number_task(), deterministic=False))
    written.seed(5.0)
    written.again(1, 5.5)
    written.campaign.close()
    text = call("program", "show", "number/1").stdout
    assert "nearness 5  [witnessed" in text
    assert "5.25, the mean of 2 evaluations; reported is 5.5, of the 1 since it won its place" in text


def test_each_case_of_a_score_stands_beside_its_parents_and_the_best(call, home):
    """In the order of the task, and in its own direction; a program that is worse on the whole may hold the best on a case."""
    task = dataclasses.replace(number_task(), cases=(Case("b"), Case("a")))
    written = Written(home, task)
    written.seed(5.0, cases={"a": 4.0, "b": 6.0})
    written.proposal(6.0, cases={"a": 3.5, "b": 8.5})
    written.proposal(7.0, parents=(2,), cases={"a": 6.0, "b": 8.0})
    written.campaign.close()
    text = call("program", "show", "number/3").stdout
    assert "cases        b: 8  (its parent 8.5, best 8.5 of number/2)\n" in text
    assert "             a: 6  (its parent 3.5, best 6, this one)\n" in text
    assert "cases        b: 6  (best 8.5 of number/2)\n" in call("program", "show", "number/1").stdout
    (line,) = records(call("program", "show", "number/3", "--json"))
    assert line["results"][0] == {"case": "b", "fitness": 8.0, "parent": 8.5, "best": 8.5, "holder": 2}


def test_of_many_cases_a_terminal_gets_the_first(call, home):
    written = Written(home)
    written.seed(5.0, cases={f"case {number:02}": float(number) for number in range(25)})
    written.campaign.close()
    text = call("program", "show", "number/1").stdout
    assert "case 19: 19" in text
    assert "case 20: 20" not in text
    assert "and 5 more: --json has all" in text


def test_a_campaign_whose_seed_has_failed_says_so(call, home):
    """And where the reason stands; another run would not help."""
    written = Written(home)
    written.failure(Outcome.CRASHED, "boom", ())
    written.campaign.close()
    listed = call("program", "list").stdout
    assert (
        listed
        == "campaign number has no program that holds a place; evolve program list number --all lists its records\n"
    )
    assert (
        "its seed has failed. Try: `evolve program show number/1 --feedback` says why"
        in call("program", "show", "best").stderr
    )


@pytest.mark.parametrize("reference", ["number/6", "6", "best", "number/best"])
def test_a_program_is_named_in_several_ways(call, short, reference):
    """With the campaign, or in the one written last."""
    text = call("program", "show", reference).stdout
    for line in (
        "program      number/6",
        "origin       tune_literals of number/2",
        "score        nearness 6.5  [witnessed, isolation reduced]",
        "certified    no",
        "descriptors  size 6.5",
        "artifacts    numbers (5 characters)",
        "took         10 ms, 5 ms of CPU in the candidate",
    ):
        assert line in text, line


def test_a_log_is_named_by_its_path_too(call, short):
    """From anywhere."""
    path = short / "archive" / "campaigns" / "number.db"
    assert "program      number/6" in call("program", "show", f"{path}/6").stdout


def test_code_and_feedback_are_shown_on_demand(call, short):
    """A failure's feedback says what happened."""
    text = call("program", "show", "4", "--code", "--feedback").stdout
    assert "feedback\n  │ it divided by zero\n" in text
    assert "--- seed.py (2 lines)\ndef value():\n    return 1004\n" in text
    assert "feedback\n(none)" in call("program", "show", "1", "--feedback").stdout


def test_a_failure_says_why(call, home):
    """In one line; --feedback has them all. A success has no such line."""
    written = Written(home)
    written.seed()
    written.failure(Outcome.CRASHED, "it divided by zero\nin line 3")
    written.campaign.close()
    lines = call("program", "show", "2").stdout.splitlines()
    place = lines.index("why        it divided by zero")
    assert lines[place + 1].strip() == "--feedback prints the rest"
    assert "in line 3" in call("program", "show", "2", "--feedback").stdout
    assert "why" not in call("program", "show", "1").stdout


def test_a_record_is_shown_as_json_with_its_files(call, short):
    """One object."""
    (shown,) = records(call("program", "show", "4", "--json"))
    assert (shown["record"]["outcome"], shown["feedback"]) == ("crashed", "it divided by zero")
    assert shown["files"] == {"seed.py": "def value():\n    return 1004\n"}


def test_a_screened_record_has_no_program(call, short):
    """It is shown all the same."""
    text = call("program", "show", "5", "--code").stdout
    assert "program    number/5  no program" in text
    assert "score" not in text
    assert "outcome    screened" in text


def test_a_screened_record_says_its_reason_once(call, home):
    """An operator's thought may be the reason."""
    written = Written(home)
    written.seed()
    written.failure(Outcome.SCREENED, "no edit applies", thought="no edit applies")
    written.campaign.close()
    assert call("program", "show", "2").stdout.count("no edit applies") == 1


def test_a_program_of_a_model_names_the_command_that_shows_its_prompt(call, home):
    """Steps and records are numbered apart. What no model made has no prompt."""
    written = Written(home)
    written.seed()
    written.proposal(6.0, operator="diff", model="small", step=7)
    written.proposal(4.0)
    written.campaign.close()
    text = call("program", "show", "2").stdout
    assert "by small: evolve model calls number --step 7\n" in text
    (shown,) = records(call("program", "show", "2", "--json"))
    assert (shown["record"]["step"], shown["record"]["model"]) == (7, "small")
    assert "model calls" not in call("program", "show", "3").stdout


def test_an_artifact_is_printed_alone(call, short):
    """So that another program can read it."""
    assert call("program", "show", "6", "--artifact", "numbers").stdout == "[6.5]\n"
    result = call("program", "show", "6", "--artifact", "number")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "number/6 has no artifact 'number'. Did you mean 'numbers'?" in result.stderr


def test_a_certificate_is_told_on_both_sides(call, certified):
    """By the program that has one, and by the record that is one."""
    first = call("program", "show", "1").stdout
    assert "yes, by number/2: evolve program show number/2" in first
    assert "measured again  number/2  5, certified  [witnessed, isolation reduced]  certify" in first
    second = call("program", "show", "2").stdout
    assert "certified    yes, this value is proven; --artifact numbers prints it" in second
    assert "origin       measurement of number/1 (certify)" in second
    assert "certified" in call("program", "list").stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("7", "campaign 'number' has no record 7: it has 1 to 6"),
        ("0", "campaign 'number' has no record 0"),
        ("x", "a program is named NAME/ID, got 'x'"),
        ("number/", "a program is named NAME/ID, got 'number/'"),
        ("numer/1", "there is no campaign 'numer'"),
    ],
)
@pytest.mark.parametrize("verb", ["show", "diff", "lineage"])
def test_a_program_that_there_is_not_is_an_error(call, short, verb, reference, message):
    """One line."""
    result = call("program", verb, reference)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_no_best_program_is_an_error(call, home):
    """Before anything has passed."""
    Written(home).campaign.close()
    assert "campaign 'number' has no best program yet" in call("program", "show", "best").stderr


def scores(tree: object) -> list[dict]:
    """Every object in `tree` that has a fitness which is a number."""
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    own = [tree] if isinstance(tree, dict) and isinstance(tree.get("fitness"), float) else []
    return own + [score for value in inner for score in scores(value)]


@pytest.mark.parametrize(
    "words",
    [
        ("program", "list"),
        ("program", "list", "--all"),
        ("program", "show", "1"),
        ("program", "lineage", "1"),
        ("campaign", "show"),
    ],
)
def test_every_score_in_json_has_its_isolation_and_trust(call, certified, words):
    """Whichever command prints it, however deep."""
    found = [score for line in records(call(*words, "--json")) for score in scores(line)]
    assert found
    assert {(score["isolation"], score["trust"]) for score in found} == {("reduced", "witnessed")}


@pytest.mark.parametrize("words", [("list",), ("list", "--all"), ("lineage", "6")])
def test_every_table_with_scores_says_trust_and_isolation(call, short, words):
    """In columns of their own; a screened record was not evaluated."""
    heading, *lines = call("program", *words).stdout.splitlines()
    lines = [line for line in lines if "screened" not in line]
    assert {"trust", "isolation"} <= set(heading.split())
    assert [("witnessed" in line, "reduced" in line) for line in lines] == [(True, True)] * len(lines)


def test_a_diff_is_against_the_first_parent(call, short):
    """Unified, with the names of both."""
    expected = (
        "--- number/2/seed.py\n+++ number/6/seed.py\n@@ -1,2 +1,2 @@\n def value():\n-    return 6.0\n+    return 6.5\n"
    )
    assert call("program", "diff", "6").stdout == expected
    (found,) = records(call("program", "diff", "6", "--json"))
    assert found == {"old": "number/2", "new": "number/6", "diff": expected}


def test_two_programs_are_compared_in_the_order_named(call, short):
    """Also those of two campaigns."""
    assert "-    return 6.5\n+    return 5\n" in call("program", "diff", "number/6", "number/1").stdout
    assert call("program", "diff", "6", "6").stdout == "number/6 and number/6 are the same program\n"


@pytest.mark.parametrize(
    ("references", "message"),
    [(["1"], "number/1 has no parent"), (["5"], "number/5 has no program"), (["6", "5"], "number/5")],
)
def test_what_has_nothing_to_compare_is_an_error(call, short, references, message):
    """A seed, a screened proposal."""
    result = call("program", "diff", *references)
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_lineage_tells_each_step(call, short):
    """From the seed."""
    lines = [line.split() for line in call("program", "lineage", "number/6").stdout.splitlines()]
    assert [line[:-4] for line in lines[1:]] == [
        ["number/1", "5", "seed"],
        ["number/2", "6", "+1", "tune_literals", "1"],
        ["number/6", "6.5", "+0.5", "tune_literals", "2"],
    ]
    assert [step["record"] for step in records(call("program", "lineage", "6", "--json"))] == [1, 2, 6]
    assert "crashed" in call("program", "lineage", "4").stdout


def test_a_program_that_was_caught_is_shown_with_its_tag_and_its_ruling(call, home):
    """On one line each, whatever an evaluator has quoted."""
    written = Written(home)
    written.seed()
    caught = written.proposal(9.0, tag="late write")
    with written.campaign.log.transaction():
        written.campaign.write(Ruled("quarantine", caught.record.program, "integrity", "late\nwrite"))
    written.campaign.close()
    shown = call("program", "show", "number/2").stdout
    assert "integrity    late write\n" in shown
    assert "ruling       quarantined by integrity: late write\n" in shown
    assert "integrity" not in call("program", "show", "number/1").stdout
    (found,) = records(call("program", "show", "number/2", "--json"))
    assert (found["record"]["tag"], found["record"]["outcome"]) == ("late write", "ok")


def ids(result):
    """The records of a listing in JSON."""
    return [json.loads(line)["id"] for line in result.output.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--outcome", "ok"), [6, 2, 1, 3]),
        (("--sort", "id", "--limit", 2), [6, 4]),
        (("--operator", "tune_literals", "--sort", "id", "--limit", "0"), [6, 4, 3, 2]),
    ],
)
def test_records_are_chosen_and_sorted(call, short, words, expected):
    """Among the programs."""
    assert ids(call("program", "list", "number", *words, "--json")) == expected


def test_measurements_and_screened_proposals_are_listed_on_demand_alone(call, home):
    """They are records, and no programs."""
    written = Written(home)
    written.seed()
    written.again(1, 5.5)
    written.failure(Outcome.SCREENED, "no-op: it reads the same as its parent")
    written.proposal(6.0)
    written.campaign.close()
    assert ids(call("program", "list", "--sort", "id", "--json")) == [4, 1]
    assert ids(call("program", "list", "--all", "--sort", "id", "--json")) == [4, 3, 2, 1]
    assert ids(call("program", "list", "--outcome", "screened", "--json")) == [3]


def test_a_table_says_how_many_more_there_are(call, short):
    """On stderr."""
    result = call("program", "list", "--outcome", "ok", "--limit", "1")
    assert result.stdout.splitlines()[1].startswith("number/6*")
    assert result.stderr == "(1 of 4; --limit 0 lists all)\n"
    assert call("program", "list", "--outcome", "timed_out").output == "campaign number has no such record\n"


def test_what_is_listed_is_written_as_csv(call, short, tmp_path):
    """All of it; elites too."""
    target = tmp_path / "records.csv"
    result = call("program", "list", "number", "--outcome", "ok", "--csv", target)
    assert result.output == f"4 rows  {target}\n"
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert [(row["record"], row["fitness"], row["isolation"], row["trust"]) for row in rows] == [
        ("6", "6.5", "reduced", "witnessed"),
        ("2", "6.0", "reduced", "witnessed"),
        ("1", "5.0", "reduced", "witnessed"),
        ("3", "4.0", "reduced", "witnessed"),
    ]
    call("program", "list", "number", "--csv", target, "--limit", "1")
    assert [row["record"] for row in csv.DictReader(target.read_text().splitlines())] == ["6"]


def test_places_and_choices_exclude_each_other(call, short):
    """A usage error says so."""
    result = call("program", "list", "--elites", "--outcome", "ok")
    assert result.exit_code == 2
    assert "leave out one of them" in result.output


def test_an_outcome_that_there_is_not_is_an_error(call, short):
    """With the one that was meant."""
    result = call("program", "list", "--outcome", "crash")
    assert (result.exit_code, "Did you mean 'crashed'?" in result.stderr) == (1, True)


def test_the_front_is_listed_on_demand(call, home, monkeypatch):
    """With a column for each objective."""
    monkeypatch.setenv("COLUMNS", "200")
    aiming_campaign(home).close()
    lines = call("program", "list", "--front").stdout.splitlines()
    assert lines[0].split()[:5] == ["program", "nearness", "length", "seconds", "evidence"]
    assert [line.split()[:4] for line in lines[1:]] == [
        ["number/3", "6.5", "3", "9"],
        ["number/2*", "7", "2", "8"],
        ["number/4", "6", "1.5", "5"],
    ]
    elites = call("program", "list").stdout.splitlines()
    assert elites[-1].split()[:4] == ["number/6", "9", "9", "1"]
    assert "measured, violation 0.5" in elites[-1]
    found = records(call("program", "list", "--front", "--json"))
    assert [objective["value"] for objective in found[0]["objectives"]] == [3.0, 9.0]
    everything = call("program", "list", "--all").stdout.splitlines()
    assert everything[-1].startswith("number/6")
    assert "ok, misses constraints" in everything[-1]


def test_a_task_without_objectives_has_no_front(call, short):
    """That is an error with its remedy, and no empty list."""
    result = call("program", "list", "--front")
    assert result.exit_code == 1
    assert "task 'number' of campaign 'number' has no objectives, so there is no front. Try:" in result.stderr


def test_a_program_is_shown_with_its_objectives_and_what_it_misses(call, home):
    """And so is one that meets the constraints."""
    aiming_campaign(home).close()
    shown = call("program", "show", "number/6").stdout
    assert "objectives   length 9, seconds 1\n" in shown
    assert "constraints  missed, violation 0.5\n             memory 300, wanted at most 200\n" in shown
    assert "constraints  met\n" in call("program", "show", "number/3").stdout
    assert records(call("program", "show", "number/6", "--json"))[0]["record"]["violation"] == 0.5


def test_a_campaign_is_shown_with_its_front(call, home):
    """In JSON, too."""
    aiming_campaign(home).close()
    shown = call("campaign", "show").stdout
    assert "objectives  length 2 (max), seconds 8 (min)\n" in shown
    assert "front       3 programs, hypervolume 4.5 beyond length 1, seconds 10\n" in shown
    page = records(call("campaign", "show", "--json"))[0]
    assert (page["front"]["members"], page["closest"]) == (3, None)


def test_a_held_out_case_is_told_once(call, home):
    """With its trust and isolation."""
    held_out_campaign(home, 2.0, 1.0).close()
    text = call("program", "show", "number/2").stdout
    assert (text.count("number/4"), text.count("number/6")) == (1, 1)
    assert "measured again" not in text


def test_a_promoted_program_is_said_to_lose_most_of_its_gain(call, home):
    """As at the end of a run."""
    held_out_campaign(home, 0.2, 0.2).close()
    told = "promoted: no worse than the seed on any held-out case; but most of the gain is gone on held-out cases: 10% of it is left on average"
    assert told in call("program", "show", "number/2").stdout


def test_a_promotion_that_holds_is_said_without_more(call, home):
    """At each case at least half of the gain is left."""
    held_out_campaign(home, 2.0, 1.0).close()
    assert "promoted: no worse than the seed on any held-out case\n" in call("program", "show", "number/2").stdout


def test_a_single_case_has_its_trust_beside_it(call, home):
    held_out_campaign(home, 1.0).close()
    (line,) = (line for line in call("program", "show", "number/2").stdout.splitlines() if "case 0" in line)
    assert line.endswith("case 0: 6 (+1 to the seed)  number/4  [witnessed, isolation reduced]")


@pytest.fixture
def mixed(home):
    """The campaign `number` with a run at `reduced`, whose program is the best, and a later one at `strict`."""
    written = Written(home)
    written.seed(5.0)
    written.proposal(6.5)
    written.run_at("strict: namespaces, seccomp")
    written.proposal(6.0, isolation="strict: namespaces, seccomp")
    written.campaign.close()


@pytest.mark.parametrize("words", [("list",), ("list", "--all"), ("lineage", "2")])
def test_a_score_of_a_weaker_level_is_marked_in_every_table(call, mixed, words):
    """Beside its level."""
    lines = call("program", *words).stdout.splitlines()[1:]
    assert [("reduced (weaker)" in line) != ("strict" in line) for line in lines] == [True] * len(lines)
    assert any("reduced (weaker)" in line for line in lines)


def test_a_score_of_a_weaker_level_is_marked_where_one_program_is_shown(call, mixed):
    """In words, and in JSON."""
    assert "[witnessed, isolation reduced (weaker)]" in call("program", "show", "2").stdout
    assert "[witnessed, isolation strict]" in call("program", "show", "3").stdout
    assert "6.5 (+1.5 to the seed) [evaluated at reduced (weaker)]" in call("campaign", "show").stdout
    found = {line["id"]: line["weaker"] for line in records(call("program", "list", "--all", "--json"))}
    assert found == {1: True, 2: True, 3: False}
