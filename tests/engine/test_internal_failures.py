"""Internal failures of the evaluation, for which no program is to blame: retries, and the end of a run in which nothing else happens."""

import itertools

import pytest
from loop_fakes import FakeExecutor, near_seven, number_of

from evolve.evaluation import Report
from evolve.types import NOBODYS_FAULT, Evaluation, Outcome, SandboxError, Settled, TaskError, text_id


def broken(text="the node is gone"):
    return Report(Evaluation.failed(Outcome.INTERNAL, text_id(text)), {text_id(text): text})


def records(campaign):
    """The settled records of the log."""
    return [found.event.record for found in campaign.log.events(only=Settled)]


def test_a_judge_that_fails_now_and_then_costs_no_program_its_score(bench):
    """The jobs of every third step fail at first."""
    seen = {"0.0"}

    def judge(job):
        fails = job.id not in seen and int(job.id.partition(".")[0]) % 3 == 0
        seen.add(job.id)
        return broken() if fails else near_seven(job)

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(judge))
        assert campaign.state.progress.programs == 30
        assert {record.evaluation.outcome for record in records(campaign)} <= {Outcome.OK, Outcome.SCREENED}


def test_a_short_outage_costs_neither_scores_nor_budget(bench):
    """Failures of the machinery are records that blame no program, and count for no budget of programs."""
    calls = itertools.count(1)

    def judge(job):
        return broken() if 5 < next(calls) < 20 else near_seven(job)

    with bench.create() as campaign:
        ending = bench.run(campaign, FakeExecutor(judge))
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 30)
        proposed = [record.evaluation.outcome for record in records(campaign) if record.origin.kind == "proposal"]
        assert Outcome.INTERNAL in proposed
        assert len([outcome for outcome in proposed if outcome not in NOBODYS_FAULT]) == 30
        assert campaign.state.archive.best.fitness > -2.0


def test_an_evaluator_that_fails_on_all_but_the_seed_stops_the_campaign(bench):
    """A run in which nothing could be judged never looks like one that succeeded."""

    def judge(job):
        return near_seven(job) if number_of(dict(job.files)) == 5.0 else broken("the evaluator raised KeyError: 'x'")

    with (
        bench.create() as campaign,
        pytest.raises(SandboxError, match=r"10 evaluations in a row failed, and no program is to blame; .*: 'x'. Do: "),
    ):
        bench.run(campaign, FakeExecutor(judge))


def test_a_seed_that_the_machinery_failed_is_judged_again_by_the_next_run(bench):
    """Nothing was found out about it."""
    with bench.create() as campaign, pytest.raises(TaskError, match="fails its own evaluator: internal"):
        bench.run(campaign, FakeExecutor(lambda job: broken()))
    with bench.open() as campaign:
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.archive.best.fitness > -2.0
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
