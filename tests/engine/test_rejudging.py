"""Judging again by a newer version of the task: what is evaluated, what stays, and what an interruption leaves to do."""

import dataclasses

import pytest
from loop_fakes import FakeExecutor, Seen, near_seven, number_of

from evolve.campaign.rejudging import begin, plan_rejudging
from evolve.engine import run
from evolve.evaluation import Report
from evolve.types import (
    REJUDGED,
    Asked,
    ConfigError,
    Evaluation,
    Fitness,
    Import,
    MachineMeasured,
    Measure,
    Outcome,
    Program,
    Propose,
    Ruled,
    Selection,
    Settled,
    TaskChanged,
    TaskError,
    text_id,
)


@pytest.fixture
def newer(circle_task):
    """The task in its next version."""
    return dataclasses.replace(circle_task, version="2")


def near_six(job) -> Report:
    """The newer evaluator: the nearer to 6 the better, and nothing above 7 counts."""
    value = number_of(dict(job.files))
    if value > 7.0:
        return Report(Evaluation.failed(Outcome.WRONG, text_id("a cheat")), {text_id("a cheat"): "a cheat"})
    report = near_seven(job)
    return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, fitness=-abs(value - 6.0)))


def rejudge(campaign, task, judge=near_six, *, everything=False, executor=None):
    """Judges again; returns the plan and how it ended."""
    plan = plan_rejudging(campaign, task, everything=everything)
    with campaign.log.transaction():
        steps = begin(campaign, plan)
    return plan, run(campaign, executor or FakeExecutor(judge), Seen(), only=steps)


def events(campaign, kind):
    return [stamped.event for stamped in campaign.log.events(only=kind)]


def settled(campaign):
    return [event.record for event in events(campaign, Settled)]


def test_the_archive_holds_what_the_newer_version_has_judged(bench, newer):
    """The seed on all islands, the elites on theirs; the others are history."""
    with bench.create() as campaign:
        bench.run(campaign)
        elites = {elite.program for elite in campaign.state.archive.elites()}
        before = settled(campaign)
        plan, ending = rejudge(campaign, newer)
        assert (ending.reason, ending.left) == ("finished", 0)
        assert plan.programs == len(elites | {newer.seed.id})
        again = settled(campaign)[len(before) :]
        assert {record.program for record in again} == elites | {newer.seed.id}
        assert {elite.record for elite in campaign.state.archive.elites()} <= {record.id for record in again}
        assert settled(campaign)[: len(before)] == before
        assert campaign.state.archive.best.fitness == max(
            record.evaluation.fitness for record in again if record.evaluation.fitness is not None
        )


def test_a_program_enters_as_the_child_and_on_the_island_that_it_was(bench, newer):
    """So lineages go through it."""
    with bench.create() as campaign:
        bench.run(campaign)
        rejudge(campaign, newer)
        for record in (one for one in settled(campaign) if one.origin.why == REJUDGED):
            first = campaign.log.settled(record.origin.about).record
            assert first.program == record.program
            assert (first.origin.parents, first.origin.island) == (record.origin.parents, record.origin.island)


@pytest.mark.parametrize("strategy", ["islands", "best_of_n", "sequential", "random"])
def test_what_was_not_judged_again_is_no_parent(bench, newer, strategy):
    """For any strategy; the search goes on with its budget and its step numbers."""
    with bench.create(strategy={"name": strategy}) as campaign:
        bench.run(campaign)
        rejudge(campaign, newer)
        since, last = campaign.state.columns.since, campaign.state.last_step
        campaign.change({"budget": ["40programs"]})
        bench.run(campaign, FakeExecutor(near_six))
        later = [record for record in settled(campaign)[since:] if record.origin.kind == "proposal"]
        assert len(later) == 10
        assert min(record.origin.step for record in later) == last + 1
        assert min(parent for record in later for parent in record.origin.parents) > since


def test_a_log_with_a_changed_task_replays_to_the_live_state(bench, newer):
    """Archive, progress and what the strategy would ask."""
    with bench.create() as campaign:
        bench.run(campaign)
        rejudge(campaign, newer)
        live = (campaign.state.archive.state(), campaign.state.seed_values, campaign.digest(), campaign.task)
    with bench.open(readonly=True) as again:
        assert live == (again.state.archive.state(), again.state.seed_values, again.digest(), again.task)
        assert again.state.difference is None


def test_everything_may_be_judged_again_also_later(bench, newer):
    """What the elites' turn has evaluated is not evaluated twice; quarantined programs are left alone."""
    with bench.create() as campaign:
        bench.run(campaign)
        elites, _ = rejudge(campaign, newer)
        plan, _ = rejudge(campaign, newer, everything=True)
        assert (plan.seed, elites.programs + plan.programs) == (False, 31)
        assert plan_rejudging(campaign, newer, everything=True).programs == 0
        assert len(events(campaign, TaskChanged)) == 1
        assert campaign.state.progress.rejudged == 30


def test_a_task_that_has_not_changed_has_nothing_to_judge(bench, circle_task):
    """All of it was evaluated by this version."""
    with bench.create() as campaign:
        bench.run(campaign)
        for everything in (False, True):
            plan = plan_rejudging(campaign, circle_task, everything=everything)
            assert (plan.programs, plan.seconds) == (0, None)


def test_quarantines_stay_and_what_was_released_can_be_judged(bench, newer):
    """The same command judges it then."""
    with bench.create() as campaign:
        bench.run(campaign)
        best = campaign.state.archive.best
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", best.program, "person"))
        rejudge(campaign, newer, everything=True)
        assert best.program not in {record.program for record in settled(campaign)[campaign.state.columns.since :]}
        with campaign.log.transaction():
            campaign.write(Ruled("release", best.program, "person"))
        plan, _ = rejudge(campaign, newer, everything=True)
        assert plan.programs == 1
        assert best.program in {elite.program for elite in campaign.state.archive.elites()} | {
            record.program for record in settled(campaign)[-1:]
        }


def test_what_was_beyond_the_bound_by_the_older_values_is_judged_by_the_newer(bench, circle_task, newer):
    """The older evaluator was wrong, or its bound; a rule's verdict rests on both."""
    with bench.create(task=dataclasses.replace(circle_task, bound=-1.0)) as campaign:
        bench.run(campaign)
        ruled = {ruling.about for ruling in events(campaign, Ruled)}
        assert ruled
        rejudge(campaign, newer, near_seven, everything=True)
        best = campaign.state.archive.best
        assert best.fitness > -1.0
        assert best.program in ruled
        assert campaign.state.quarantined == {}
        state = campaign.state.archive.state()
    with bench.open(readonly=True) as campaign:
        assert campaign.state.difference is None
        assert campaign.state.archive.state() == state


def test_what_the_older_evaluator_has_tagged_is_judged_by_the_newer(bench, newer):
    """Its check may have been what was mended."""

    def judge(job):
        report = near_seven(job)
        tagged = dataclasses.replace(report.evaluation, tag="late write")
        return dataclasses.replace(report, evaluation=tagged) if job.id == "3.0" else report

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(judge))
        (ruled,) = {ruling.about for ruling in events(campaign, Ruled)}
        rejudge(campaign, newer, near_seven, everything=True)
        assert campaign.state.quarantined == {}
        assert ruled in campaign.state.evaluated


def test_an_interrupted_one_goes_on_with_what_is_missing(bench, newer):
    """Whoever runs next: the steps are in the log."""
    evaluated = []

    def lose(job):
        if len(evaluated) == 3:
            raise KeyboardInterrupt
        evaluated.append(job.id)
        return near_six(job)

    with bench.create() as campaign:
        bench.run(campaign)
        with pytest.raises(KeyboardInterrupt):
            rejudge(campaign, newer, lose)
        programs = plan_rejudging(campaign, newer, everything=False).programs
    with bench.open() as campaign:
        plan, ending = rejudge(campaign, newer)
        assert (plan.programs, plan.records, ending.left) == (programs, (), 0)
        since = campaign.state.columns.since
        again = [record.program for record in settled(campaign)[since:]]
        assert len(set(again)) == len(again)
        assert {campaign.state.columns.programs[record - 1] for record in campaign.state.former} <= set(again)


def test_a_later_run_finishes_an_interrupted_one(bench, newer):
    """It begins with the unfinished steps."""
    with bench.create() as campaign:
        bench.run(campaign)
        plan = plan_rejudging(campaign, newer, everything=False)
        with campaign.log.transaction():
            begin(campaign, plan)
    with bench.open() as campaign:
        campaign.change({"budget": ["31programs"]})
        bench.run(campaign, FakeExecutor(near_six))
        assert campaign.state.progress.rejudged == len(plan.records)
        assert {"seed", "measurement"} <= {one.origin.kind for one in settled(campaign)[campaign.state.columns.since :]}


def test_former_elites_survive_a_version_that_was_broken(bench, newer):
    """A third version judges them, though the second accepted nothing."""
    broken = FakeExecutor(lambda job: Report(Evaluation.failed(Outcome.WRONG, text_id("no")), {text_id("no"): "no"}))
    with bench.create() as campaign:
        bench.run(campaign)
        elites = campaign.state.elites()
        with pytest.raises(TaskError, match="the seed of task 'one_number' fails its own evaluator"):
            rejudge(campaign, newer, executor=broken)
    with bench.open() as campaign:
        with pytest.raises(TaskError, match=r"failed its own evaluator: wrong\. Try: .* `evolve campaign rejudge"):
            bench.run(campaign)
        _, ending = rejudge(campaign, dataclasses.replace(newer, version="3"))
        assert ending.left == 0
        programs = campaign.state.columns.programs
        evaluated = {record.program for record in settled(campaign)[campaign.state.columns.since :]}
        assert {programs[record - 1] for record in elites} <= evaluated


def test_steps_that_had_not_settled_are_given_up_but_for_what_a_person_added(bench, newer):
    """A proposal of the old archive is none of the new one; an import is asked for anew."""
    mine = Program({"seed.py": "def value():\n    return 6.5\n"})
    with bench.create() as campaign:
        bench.run(campaign)
        with campaign.log.transaction():
            campaign.log.put_program(mine, "mine")
            after, step = len(campaign.state.columns.programs), campaign.state.last_step
            campaign.write(Asked(step + 1, Propose(Selection("tune_literals", parents=(1,))), after))
            campaign.write(Asked(step + 2, Import(mine.id, thought="mine", request="00000001"), after))
        rejudge(campaign, newer)
        assert campaign.state.steps == {}
        assert [record.thought for record in settled(campaign) if record.origin.kind == "import"] == ["mine"]
        assert campaign.state.requests["00000001"] > step + 2


def test_what_it_costs_is_the_mean_of_the_same_programs(bench, newer):
    """In seconds of judge time."""

    def slow(job):
        report = near_seven(job)
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, seconds=0.25))

    with bench.create() as campaign:
        bench.run(campaign, FakeExecutor(slow))
        plan = plan_rejudging(campaign, newer, everything=True)
        assert (plan.seed, plan.programs, plan.seconds) == (True, 31, 0.25)


def test_a_noisy_task_learns_its_noise_anew_and_confirms_at_once(bench, circle_task):
    """Judging again is no part of the share that measurements may take."""
    noisy = dataclasses.replace(circle_task, deterministic=False)
    with bench.create(task=noisy) as campaign:
        bench.run(campaign)
        measured = campaign.state.progress
        rejudge(campaign, dataclasses.replace(noisy, version="2"), everything=True)
        assert campaign.state.noise_floor is None
        progress = campaign.state.progress
        assert progress.rejudged > 25
        assert progress.measurements - measured.measurements <= 20
        campaign.change({"budget": ["35programs"]})
        run(campaign, FakeExecutor(near_six), Seen())
        assert campaign.state.progress.programs == 35
        assert [event.noise_floor for event in events(campaign, MachineMeasured)][-1] is not None


def test_certificates_are_asked_for_anew(bench, circle_task):
    """The best is proven by the newer version before the command ends."""

    def judge(job):
        value = number_of(dict(job.files)) if job.files else float(job.artifacts["value"])
        report = near_seven(job)
        return dataclasses.replace(report, evaluation=dataclasses.replace(report.evaluation, fitness=-abs(value - 6.0)))

    task = dataclasses.replace(circle_task, promotion="certificate")
    with bench.create(task=task) as campaign:
        bench.run(campaign)
        rejudge(campaign, dataclasses.replace(task, version="2"), judge)
        best = campaign.state.archive.best
        assert best.estimate.certified
        assert best.record > campaign.state.columns.since


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "other"}, "is on the task 'one_number', got 'other'"),
        ({"fitness": Fitness(direction="min")}, "is now better when it is smaller, and was when it was larger"),
        ({"seed": Program({"a.py": ""})}, r"is now a\.py, and was seed\.py"),
    ],
)
def test_a_task_whose_scores_cannot_stand_beside_the_old_ones_is_refused(bench, newer, fields, message):
    """Before anything is written."""
    with bench.create() as campaign:
        bench.run(campaign)
        with pytest.raises(ConfigError, match=message):
            plan_rejudging(campaign, dataclasses.replace(newer, **fields), everything=False)


def test_another_seed_is_the_seed_of_the_newer_version(bench, newer):
    """The old one is a program like others."""
    other = dataclasses.replace(newer, seed=Program({"seed.py": "def value():\n    return 4.0\n"}))
    with bench.create() as campaign:
        bench.run(campaign)
        rejudge(campaign, other, everything=True)
        state = campaign.state
        assert state.seed_values == [-2.0]
        assert state.columns.programs[state.seed_record - 1] == other.seed.id
        assert campaign.task.seed.id in state.evaluated
        measures = [asked.action for asked in events(campaign, Asked) if isinstance(asked.action, Measure)]
        assert newer.seed.id in {measure.program for measure in measures}


def test_operators_see_nothing_that_an_earlier_version_judged(bench, newer):
    """Their notes about it are left out; records and parents stay."""
    with bench.create() as campaign:
        bench.run(campaign)
        assert campaign.state.history.extras("tune_literals")
        rejudge(campaign, newer)
        assert campaign.state.history.extras("tune_literals") == []
        assert campaign.state.history.fitness(1) == -2.0
