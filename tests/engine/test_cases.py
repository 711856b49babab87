"""What a program is worth where the search does not look: held-out cases, promotion, and without what its parents left."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, near_seven, number_of

from evolve.campaign import secret_for
from evolve.evaluation import Report
from evolve.types import FROM_SCRATCH, Case, Evaluation, Measure, Outcome, Ruled, Settled, text_id

CASES = (Case("wide", {"target": 9.0}), Case("far", {"target": 50.0}))


def events(campaign, kind):
    """The events of one type."""
    return [found.event for found in campaign.log.events(only=kind)]


def on_cases(campaign):
    """The records that were evaluated on a case."""
    return [event.record for event in events(campaign, Settled) if event.record.origin.case]


def near_the_target(job):
    """The nearer to the trial's target the better; 7, where the trial names none."""
    if not job.files:
        return near_seven(job)
    value = number_of(dict(job.files))
    target = float(job.trial.parameters.get("target", 7.0))
    return Report(Evaluation.ok(-abs(value - target), descriptors={"size": min(10.0, abs(value))}))


@pytest.fixture
def task(circle_task):
    """A task with two held-out cases: who comes nearer to 7 comes nearer to both of their targets."""
    return dataclasses.replace(circle_task, parameters={"target": 7.0}, held_out=CASES)


def test_the_seed_and_each_new_best_are_judged_once_on_every_case(bench, task):
    """The seed first; a program that is the best no longer when its turn comes is left out."""
    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(near_the_target))
        records, best = on_cases(campaign), campaign.state.archive.best
        asked = [(record.program, record.origin.case) for record in records]
        assert asked[:2] == [(task.seed.id, "wide"), (task.seed.id, "far")]
        assert len(asked) == len(set(asked))
        assert {(best.program, "wide"), (best.program, "far")} <= set(asked)


def test_a_case_is_told_its_own_parameters_and_always_the_same_seed(bench, task):
    """So that what differs between two programs is the programs."""
    executor = FakeExecutor(near_the_target)
    noisy = dataclasses.replace(task, deterministic=False)
    with bench.create("confirm.share=0.5", task=noisy) as campaign:
        bench.run(campaign, executor)
    held_out = [job for job in executor.jobs if job.trial.split == "held_out"]
    assert {job.trial.parameters["target"] for job in held_out} == {9.0, 50.0}
    assert len({job.trial.seed for job in held_out}) == 2
    assert all(job.ungated for job in held_out)
    assert {job.trial.secret for job in executor.jobs} == {secret_for(bench.home, task.name)}
    assert all(job.trial.parameters["target"] == 7.0 for job in executor.jobs if job not in held_out)


def test_what_a_case_finds_changes_no_estimate_and_is_no_fitness_of_the_history(bench, task):
    """A case is worth 1,000 times as much here, and the archive does not know."""

    def judge(job):
        report = near_the_target(job)
        worth = 1000.0 if job.trial.split == "held_out" else report.evaluation.fitness
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, fitness=worth))

    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(judge))
        records = on_cases(campaign)
        assert records
        assert {record.evaluation.fitness for record in records} == {1000.0}
        assert {campaign.state.history.fitness(record.id) for record in records} == {None}
        assert campaign.state.archive.best.fitness <= 0.0
        assert campaign.state.seed_values == [-2.0]


def test_neither_strategies_nor_operators_get_to_see_what_a_case_found(bench, task):
    """What is told of such a record, and what can be read of it, has no result."""
    campaign, told = bench.create("confirm.share=0.5", task=task), []
    tell = campaign.strategy.tell
    campaign.strategy.tell = lambda event: (told.append(event), tell(event))
    with campaign:
        bench.run(campaign, FakeExecutor(near_the_target))
        cases = on_cases(campaign)
        assert {record.evaluation.outcome for record in cases} == {Outcome.OK}
        seen = [event.record for event in told if isinstance(event, Settled) and event.record.origin.case]
        seen += [campaign.state.history.record(record.id) for record in cases]
        assert len(seen) == 2 * len(cases)
        found = {(one.evaluation.outcome, one.evaluation.fitness, *one.evaluation.artifacts) for one in seen}
        assert found == {(Outcome.SCREENED, None)}


def test_a_best_that_is_no_worse_than_the_seed_on_every_case_is_promoted(bench, task):
    """Once, by a ruling that names the cases."""
    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(near_the_target))
        best = campaign.state.archive.best
        rulings = [ruling for ruling in events(campaign, Ruled) if ruling.about == best.program]
        assert [(ruling.what, ruling.by, ruling.why) for ruling in rulings] == [
            ("promote", "held-out cases", "no worse than the seed on wide, far")
        ]
        assert best.program in campaign.state.archive.promoted


@pytest.mark.parametrize("broken", [Outcome.CRASHED, Outcome.WRONG])
def test_a_best_that_fails_or_is_worse_on_one_case_is_not_promoted(bench, task, broken):
    """What was found in the search does not hold there."""

    def judge(job):
        target = job.trial.parameters.get("target")
        if target == 50.0 and dict(job.files) != dict(task.seed.files):
            return Report(Evaluation.failed(broken, text_id("no")), {text_id("no"): "no"})
        return near_the_target(job)

    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(judge))
        best = campaign.state.archive.best
        assert best.program != task.seed.id
        assert events(campaign, Ruled) == []
        results = {result.case: result for result in campaign.state.cases.results(best.program)}
        assert (results["wide"].agrees, results["far"].agrees) == (True, False)
        assert results["far"].outcome is broken


def test_a_case_on_which_the_machinery_fails_is_tried_three_times(bench, task):
    """And then left alone: a campaign does not wait for it."""

    def judge(job):
        if job.trial.parameters.get("target") == 50.0:
            return Report(Evaluation.failed(Outcome.INTERNAL, text_id("ours")), {text_id("ours"): "ours"})
        return near_the_target(job)

    with bench.create("confirm.share=0.9", task=task, budget=["8programs"]) as campaign:
        assert bench.run(campaign, FakeExecutor(judge)).reason == "budget"
        failed = [record for record in on_cases(campaign) if record.evaluation.outcome is Outcome.INTERNAL]
        assert max(sum(record.program == other.program for record in failed) for other in failed) == 3


def test_a_replay_knows_the_cases(bench, task):
    """They are a fold over the log."""
    with bench.create("confirm.share=0.5", task=task) as campaign:
        bench.run(campaign, FakeExecutor(near_the_target))
        best = campaign.state.archive.best.program
        results, state = campaign.state.cases.results(best), campaign.state.archive.state()
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
        assert campaign.state.cases.results(best) == results
        assert campaign.state.archive.state() == state


# --- what parents leave


def walking(job):
    """Goes on from what the parent left: one more than that; from scratch, 0. The seed's number does not matter."""
    left = job.trial.carried("place")
    place = 0 if left is None else left + 1
    text = repr(place)
    evaluation = Evaluation.ok(float(place), descriptors={"size": 1.0}, artifacts={"place": text_id(text)})
    return Report(evaluation, {text_id(text): text})


@pytest.fixture
def walk(circle_task):
    """A task whose programs go on from where their parents were."""
    return dataclasses.replace(circle_task, carry=("place",))


def test_children_are_given_what_their_first_parent_left(bench, walk):
    """So that fitness grows by one per generation, and the record says by ids what was given."""
    with bench.create(task=walk, strategy={"name": "sequential"}) as campaign:
        bench.run(campaign, FakeExecutor(walking))
        best = campaign.state.archive.best
        assert best.fitness >= 3.0
        record = campaign.state.history.record(best.record)
        given = campaign.state.history.text(record.evaluation.carried["place"])
        assert float(given) + 1 == best.fitness


def test_without_carrying_every_program_begins_from_scratch(bench, walk):
    """`--set carry=false`, for a comparison."""
    executor = FakeExecutor(walking)
    with bench.create("carry=false", task=walk) as campaign:
        bench.run(campaign, executor)
        assert campaign.state.archive.best.fitness == 0.0
        assert {job.trial.carried("place") for job in executor.jobs} == {None}
        assert on_cases(campaign) == []


def test_a_new_best_is_also_judged_from_scratch(bench, walk):
    """What its own code is worth stands beside its score."""
    with bench.create("confirm.share=0.5", task=walk) as campaign:
        bench.run(campaign, FakeExecutor(walking))
        best = campaign.state.archive.best
        (result,) = campaign.state.cases.results(best.program)
        assert (result.case, result.fitness) == (FROM_SCRATCH, 0.0)
        assert best.fitness > 0.0


def test_a_program_that_is_measured_again_is_given_the_same_again(bench, walk):
    """Equal trials are repeatable."""
    noisy = dataclasses.replace(walk, deterministic=False)
    executor = FakeExecutor(walking)
    with bench.create(task=noisy) as campaign:
        bench.run(campaign, executor)
        records = {event.record.id: event.record for event in events(campaign, Settled)}
        again = [
            record
            for record in records.values()
            if record.origin.kind == "measurement" and not record.origin.case and record.origin.about != 1
        ]
        assert again
        for record in again:
            assert record.evaluation.carried == records[record.origin.about].evaluation.carried


# --- a strategy's own measurements


def test_a_strategy_may_ask_for_a_case_that_there_is_and_for_no_other(bench, task, monkeypatch):
    """The log never holds a measurement that cannot be done."""
    from evolve.strategies.islands import Islands
    from evolve.types import PluginError

    def ask(self, view, rng):
        return Measure(1, view.task.seed.id, why="curious", case="wid")

    monkeypatch.setattr(Islands, "ask", ask)
    with bench.create(task=task) as campaign, pytest.raises(PluginError, match="asked for case 'wid', wanted one of"):
        bench.run(campaign, FakeExecutor(near_the_target))
