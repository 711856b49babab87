"""What becomes of scores that a program has told of itself: they are searched by, shown as what they are, and promote nothing."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, near_seven, number_of

from evolve import report, wording
from evolve.campaign.campaign import best_confirmed
from evolve.evaluation import Report
from evolve.types import Case, Evaluation, Ruled


def judging(trust):
    """Who comes nearer to the trial's target is better."""

    def judge(job):
        if not job.files:
            return near_seven(job)
        value = number_of(dict(job.files))
        target = float(job.trial.parameters.get("target", 7.0))
        said = trust(job) if callable(trust) else trust
        return Report(Evaluation.ok(-abs(value - target), descriptors={"size": min(10.0, abs(value))}, trust=said))

    return judge


@pytest.fixture
def task(circle_task):
    """A task with a held-out case on which whoever is better in the search is better, too."""
    return dataclasses.replace(circle_task, parameters={"target": 7.0}, held_out=(Case("wide", {"target": 9.0}),))


def rulings(campaign):
    return [found.event.what for found in campaign.log.events(only=Ruled)]


@pytest.mark.parametrize(
    "trust",
    [
        "claimed",
        lambda job: "claimed" if job.trial.split == "search" else "rescored",
        lambda job: "rescored" if job.trial.split == "search" else "claimed",
    ],
    ids=["everywhere", "in the search", "on the case"],
)
def test_a_claimed_score_promotes_nothing_and_the_reason_is_said(bench, task, trust):
    """However good it is on what is held out."""
    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(judging(trust)))
        best = report.best(campaign)
        assert best.improved
        assert all(line.agrees for line in best.cases)
        assert (best.trust, best.promoted, rulings(campaign)) == ("claimed", False, [])
        assert best_confirmed(campaign) is None
        assert wording.score(best, task.fitness).endswith(" [claimed]")
        last = wording.held_out(best, ("wide",), task.fitness).splitlines()[-1]
        assert last == "not promoted: the scores are claimed by the program's own script, and nobody has computed them"
        assert campaign.state.claimed
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
        assert best_confirmed(campaign) is None


def test_a_rescored_one_is_promoted_and_shown_as_that(bench, task):
    """The judge has computed it."""
    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(judging("rescored")))
        best = report.best(campaign)
        assert (best.trust, best.promoted, "promote" in rulings(campaign)) == ("rescored", True, True)
        assert best_confirmed(campaign) == campaign.state.archive.best.fitness
        assert wording.score(best, task.fitness).endswith(" [rescored]")
