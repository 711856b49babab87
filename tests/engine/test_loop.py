"""The loop with a fake judge: what it asks, settles and keeps, and how it ends."""

import dataclasses
import os
import re
import signal
import sqlite3
import threading
from concurrent.futures import Future

import pytest
from loop_fakes import DESCRIPTION, FakeExecutor, Seen, near_seven

from evolve.engine import run
from evolve.evaluation import Report
from evolve.evaluation.job import decode_job, encode_report
from evolve.types import (
    Asked,
    Child,
    Evaluation,
    Insertion,
    MachineMeasured,
    Measure,
    Needs,
    Opened,
    Outcome,
    PluginError,
    Program,
    Propose,
    Ruled,
    SandboxError,
    Settled,
    Stage,
    TaskError,
    Wait,
    text_id,
)


def events(campaign, kind):
    """The events of one kind, in their order."""
    return [stamped.event for stamped in campaign.log.events() if isinstance(stamped.event, kind)]


def failed(outcome: Outcome, text: str) -> Report:
    """A report of a failure with its feedback."""
    return Report(Evaluation.failed(outcome, text_id(text)), {text_id(text): text})


def test_a_campaign_improves_on_its_seed_and_judges_exactly_its_budget(bench):
    """Thirty programs were asked for, thirty are evaluated."""
    with bench.create() as campaign:
        ending = bench.run(campaign)
        assert (ending.reason, ending.left) == ("budget", 0)
        assert campaign.state.progress.programs == 30
        assert campaign.state.archive.best.fitness > -2.0
        assert events(campaign, Settled)[0].record.origin.kind == "seed"
        assert isinstance(next(iter(campaign.log.events())).event, Opened)


@pytest.mark.parametrize("hold", [0, 1, 3])
def test_judgements_may_come_in_any_order(bench, hold):
    """A record's number is its place in the order of settling."""
    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(hold=hold))
        numbers = [event.record.id for event in events(campaign, Settled)]
        assert list(range(1, len(numbers) + 1)) == numbers
        assert campaign.state.progress.programs == 30


@pytest.mark.parametrize("strategy", ["islands", "best_of_n", "sequential", "random"])
def test_every_strategy_runs(bench, strategy):
    """With the operators that it may use."""
    with bench.create(strategy={"name": strategy}) as campaign:
        bench.run(campaign)
        operators = {event.record.origin.operator for event in events(campaign, Settled)} - {""}
        assert campaign.state.progress.programs == 30
        assert operators <= set(campaign.operator_names)


def test_replay_equals_the_live_state(bench):
    """Everything that is known follows from the log."""
    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(hold=2))
        live = (campaign.state.archive.state(), campaign.state.progress, campaign.state.seed_values, campaign.digest())
    with bench.open(readonly=True) as again:
        progress = dataclasses.replace(again.state.progress, seconds=live[1].seconds)
        assert live == (again.state.archive.state(), progress, again.state.seed_values, again.digest())
        assert again.state.difference is None


def test_the_first_stored_insertion_that_differs_is_reported(bench):
    """Another version of the code would decide otherwise."""
    with bench.create() as campaign:
        bench.run(campaign)
        victim = events(campaign, Settled)[4]
    with bench.open() as campaign:
        with campaign.log.transaction():
            other = Insertion.NEW if victim.placement.insertion is not Insertion.NEW else Insertion.NOT_ADDED
            record = dataclasses.replace(victim.record, id=len(campaign.state.columns.programs) + 1)
            campaign.append(Settled(record, dataclasses.replace(victim.placement, insertion=other, island=3, cell=0)))
        number = record.id
    with bench.open(readonly=True) as again:
        assert number == again.state.difference.record
        assert f"record {number}: the log says" in str(again.state.difference)


def test_two_deterministic_runs_are_equal(bench):
    """One step at a time, the same seed: the same events but for their circumstances."""
    digests = []
    for name in ("one", "two"):
        with bench.create(name=name, deterministic=True) as campaign:
            bench.run(campaign)
            digests.append(campaign.digest())
    assert digests[0] == digests[1]
    with bench.create(name="three", deterministic=True, seed=1) as campaign:
        bench.run(campaign)
        assert digests[0] != campaign.digest()


def test_a_continued_campaign_keeps_its_total_budget(bench):
    """`--budget` is the campaign's total."""
    with bench.create() as campaign:
        bench.run(campaign)
    with bench.open() as campaign:
        campaign.change({"budget": ["50programs"]})
        bench.run(campaign)
        assert campaign.state.progress.programs == 50
    with bench.open(readonly=True) as campaign:
        assert campaign.settings.budget == ("50programs",)


def test_a_spent_budget_in_time_ends_at_once(bench):
    """What was asked and not evaluated waits for the next run."""
    with bench.create(budget=["0.2s"]) as campaign:
        ending = bench.run(campaign, FakeExecutor(hold=2))
        assert ending.reason == "budget"
        assert ending.left == len(campaign.state.steps)


def test_unfinished_steps_run_again_under_their_own_number(bench):
    """With the history that they were asked with, so that the same children come."""
    lost = []

    def lose(job):
        if len(lost) < 3 and job.id not in ("0.0", "1.0"):
            lost.append((job.id, dict(job.files)))
            raise KeyboardInterrupt
        return near_seven(job)

    campaign = bench.create()
    while True:
        try:
            bench.run(campaign, FakeExecutor(lose))
            break
        except KeyboardInterrupt:
            campaign.close()
            campaign = bench.open()
    settled = events(campaign, Settled)
    steps = [(event.record.origin.step, event.record.origin.index) for event in settled]
    assert len(set(steps)) == len(steps)
    programs = {f"{e.record.origin.step}.{e.record.origin.index}": e.record.program for e in settled}
    assert [Program(files).id for _, files in lost] == [programs[job] for job, _ in lost]
    assert campaign.state.progress.programs == 30
    campaign.close()


def test_duplicates_and_equal_texts_are_screened(bench):
    """They cost no judging, and say why."""

    class Same:
        def propose(self, selection, context):
            number = 6.0 if len(context.history) < 300 else 5.0
            remark = f"  # {context.rng.random()}" if len(context.history) > 6 else ""
            return [Child(Program({"seed.py": f"def value():\n    return {number}{remark}\n"}))]

    campaign = bench.create()
    campaign.operator = lambda name: Same()
    with campaign:
        ending = bench.run(campaign)
        screened = [
            event.record for event in events(campaign, Settled) if event.record.evaluation.outcome is Outcome.SCREENED
        ]
        reasons = {campaign.log.text(record.evaluation.feedback) for record in screened}
        assert ending.reason == "exhausted"
        assert campaign.state.progress.programs == 1
        # Which program it repeats is known once that one has settled.
        assert {
            "duplicate of it",
            "duplicate of it (but for spacing and comments)",
            "evolve.operators: no-op: it reads the same as its parent",
        } == {re.sub(r"(?<=of )(program \d+|a program that .*?)(?= \(|$)", "it", reason) for reason in reasons}


def test_an_operator_that_fails_five_times_in_a_row_stops_the_campaign(bench):
    """Each failure is a record that names the plugin."""

    class Broken:
        def propose(self, selection, context):
            raise ZeroDivisionError("oops")

    campaign = bench.create()
    campaign.operator = lambda name: Broken()
    with campaign, pytest.raises(PluginError, match=r"5 proposals in a row failed.*raised ZeroDivisionError: oops"):
        bench.run(campaign)
    with bench.open(readonly=True) as campaign:
        assert {Outcome.OK, Outcome.SCREENED} == {
            event.record.evaluation.outcome for event in events(campaign, Settled)
        }


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda view, rng: Wait(), "waits, and nothing is under way"),
        (lambda view, rng: "propose", "asked for a str, wanted Propose, Measure or Wait"),
        (lambda view, rng: 1 / 0, "plugin 'islands' raised ZeroDivisionError"),
    ],
)
def test_a_strategy_that_breaks_its_contract_stops_the_campaign(bench, ask, message):
    """At once, with its name."""
    campaign = bench.create()
    campaign.strategy.ask = ask
    with campaign, pytest.raises(PluginError, match=message):
        bench.run(campaign)


def test_a_seed_that_fails_is_the_tasks_error(bench):
    """With the feedback of its own evaluator."""
    with (
        bench.create() as campaign,
        pytest.raises(TaskError, match=r"the seed of task 'one_number' fails its own evaluator: wrong. too small"),
    ):
        bench.run(campaign, FakeExecutor(lambda job: failed(Outcome.WRONG, "too small")))


def test_failed_candidates_are_records_and_the_next_one_is_judged(bench):
    """A failure is an outcome."""

    def judge(job):
        return near_seven(job) if int(job.id.split(".")[0]) % 2 == 0 else failed(Outcome.TIMED_OUT, "too slow")

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(judge))
        outcomes = [event.record.evaluation.outcome for event in events(campaign, Settled)]
        assert {Outcome.OK, Outcome.TIMED_OUT} <= set(outcomes)
        assert campaign.state.progress.programs == 30


def test_a_value_beyond_the_bound_is_quarantined(bench, circle_task):
    """It is kept as evidence, and never the best."""
    task = dataclasses.replace(circle_task, bound=-0.5)
    with bench.create(task=task) as campaign:
        bench.run(campaign)
        rulings = events(campaign, Ruled)
        assert rulings
        assert {"bound"} == {ruling.by for ruling in rulings}
        assert "is beyond the proven bound -0.5" in rulings[0].why
        assert campaign.state.archive.best.fitness <= -0.5


def test_a_task_with_certificates_certifies_what_wins(bench, circle_task):
    """The best is certified at the end, and measurements stay within their share of the records."""
    task = dataclasses.replace(circle_task, promotion="certificate")
    with bench.create(task=task, deterministic=True, budget=["200programs"]) as campaign:
        bench.run(campaign)
        asked = [event.action for event in events(campaign, Asked) if isinstance(event.action, Measure)]
        assert {"certify"} == {measure.stage for measure in asked}
        assert campaign.state.archive.best.estimate.certified
        assert campaign.state.progress.measurements <= 0.2 * campaign.state.progress.records + 20


def test_a_noisy_task_measures_its_seed_first(bench, circle_task):
    """The noise floor is known before the first proposal."""
    task = dataclasses.replace(circle_task, deterministic=False)
    values = iter([0.0, 0.1, -0.1, 0.2, -0.2])

    def judge(job):
        report = near_seven(job)
        noise = next(values, 0.0)
        return dataclasses.replace(
            report, evaluation=dataclasses.replace(report.evaluation, fitness=report.evaluation.fitness + noise)
        )

    executor = FakeExecutor(judge)
    with bench.create(task=task) as campaign:
        bench.run(campaign, executor)
        kinds = [type(event.action) for event in events(campaign, Asked)]
        assert [Measure] * 4 == kinds[:4]
        assert Propose in kinds
        floors = [event.noise_floor for event in events(campaign, MachineMeasured)]
        assert floors[0] is None
        assert len(floors) == 2
        assert 0.15 < floors[-1] < 0.17
        assert len(executor.jobs) == len({job.trial.seed for job in executor.jobs})


def test_a_stage_that_needs_what_the_machine_never_has_is_an_error_now(bench, circle_task):
    """And not a wait for ever."""
    task = dataclasses.replace(circle_task, stages=(Stage("train", needs=Needs(gpus=1)),))
    with bench.create(task=task) as campaign, pytest.raises(SandboxError, match="stage 'train' needs"):
        bench.run(campaign)


def test_the_first_interrupt_drains_and_the_second_stops(bench):
    """Everything that had settled is kept, and what was asked waits."""

    class Interrupting(Seen):
        def settled(self, campaign, event):
            super().settled(campaign, event)
            if len(self.events) == 5:
                os.kill(os.getpid(), signal.SIGINT)

    with bench.create() as campaign:
        before = signal.getsignal(signal.SIGINT)
        ending = bench.run(campaign, FakeExecutor(hold=1), Interrupting())
        assert ending.reason == "interrupted"
        assert campaign.state.progress.programs < 30
        assert before == signal.getsignal(signal.SIGINT)
    with bench.open() as campaign:
        assert bench.run(campaign).reason == "budget"
        assert campaign.state.progress.programs == 30


def test_whoever_interrupts_is_told_that_an_evaluation_goes_on(bench, caplog):
    """Which a worker has begun, so that it ends before the run does."""

    class Begun(FakeExecutor):
        def submit(self, job_id, job):
            if decode_job(job).id == "0.0":
                return super().submit(job_id, job)
            if len(self.jobs) == 1:
                os.kill(os.getpid(), signal.SIGINT)
            self.jobs.append(job)
            future = Future()
            future.set_running_or_notify_cancel()
            threading.Timer(0.3, lambda: future.set_result(encode_report(near_seven(decode_job(job))))).start()
            return future

    with bench.create(workers=1) as campaign:
        assert bench.run(campaign, Begun()).reason == "interrupted"
        assert campaign.state.progress.programs >= 1
    assert "a second interrupt ends it at once" in caplog.text


def test_watchers_see_every_record_once_and_in_order(bench):
    """After it is durable."""
    seen = Seen()
    with bench.create() as campaign:
        bench.run(campaign, watch=seen)
        assert [event.record.id for event in events(campaign, Settled)] == [event.record.id for event in seen.events]
        assert seen.turns > 0


def test_a_log_that_ends_after_any_turn_replays_to_the_state_of_that_turn(bench, circle_task):
    """Kill it at any instant: what is there is a prefix of what would have been, and means the same."""
    live = {}

    class Remembering(Seen):
        def turned(self, campaign):
            live[campaign.log.count()] = (
                campaign.state.archive.state(),
                sorted(campaign.state.steps),
                campaign.state.progress.records,
            )

    task = dataclasses.replace(circle_task, promotion="certificate")
    with bench.create(task=task) as campaign:
        bench.run(campaign, FakeExecutor(hold=2), Remembering())
        path = campaign.log.path
    for count in sorted(live, reverse=True):
        with sqlite3.connect(path) as connection:
            connection.execute("DELETE FROM events WHERE number > ?", (count,))
        connection.close()
        with bench.open(readonly=True) as again:
            state = again.state
            assert live[count] == (state.archive.state(), sorted(state.steps), state.progress.records)
            assert state.difference is None


def test_a_noise_floor_of_zero_is_known_and_told_once(bench, circle_task):
    """A noisy task whose seed always scores the same measures on, and writes no more about its machine."""
    task = dataclasses.replace(circle_task, deterministic=False)
    with bench.create(task=task) as campaign:
        bench.run(campaign)
        assert [event.noise_floor for event in events(campaign, MachineMeasured)] == [None, 0.0]
        assert campaign.state.progress.programs == 30


def test_another_machine_measures_the_noise_again(bench, circle_task):
    """What the noise was elsewhere says nothing here."""
    task = dataclasses.replace(circle_task, deterministic=False)
    with bench.create(task=task) as campaign:
        bench.run(campaign)
    with bench.open() as campaign:
        campaign.change({"budget": ["40programs"]})
        run(campaign, FakeExecutor(description=dataclasses.replace(DESCRIPTION, hardware="another")), Seen())
        machines = [(event.hardware, event.noise_floor) for event in events(campaign, MachineMeasured)]
        assert machines == [("fake", None), ("fake", 0.0), ("another", None), ("another", 0.0)]
        assert len(campaign.state.seed_values) == 10
