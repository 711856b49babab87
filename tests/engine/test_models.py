"""Campaigns whose proposals come from models: what is asked, what the log is told, what a crash and an outage leave."""

import itertools
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, cut, near_seven, number_of
from model_fakes import FakeModel, Writes, members, spent, with_operators

from evolve import plugins
from evolve.campaign.state import NOISE
from evolve.config import settings_from
from evolve.engine import run
from evolve.engine.members import Members
from evolve.evaluation import Job, Report
from evolve.hookspecs import OperatorEntry
from evolve.models.prices import Cost
from evolve.plugins import Registered
from evolve.protocols import Context
from evolve.types import (
    Asked,
    Child,
    ConfigError,
    Measure,
    ModelError,
    ModelGone,
    Outcome,
    ProgramId,
    Propose,
    Replied,
    Ruled,
    Selection,
    Settled,
    Task,
)

ONE = {"models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 4}]}, "operators": {"names": ["writes"]}}
STEPS = 5
"""Under way at once: a quarter more than calls."""


@pytest.fixture
def models(bench: Workbench) -> Workbench:
    """The bench with an operator that needs a model."""
    with_operators(bench)
    return bench


def played(bench: Workbench, campaign, *fakes: FakeModel):
    """Runs the campaign with these models."""
    return run(campaign, FakeExecutor(), Seen(), members(campaign, *fakes))


def replies(campaign) -> list[Replied]:
    return [stamped.event for stamped in campaign.log.events(only=Replied)]


def test_a_model_proposes_and_every_call_is_an_event(models: Workbench) -> None:
    with models.create(**ONE, budget=["10programs"]) as campaign:
        ending = played(models, campaign, FakeModel())
        assert ending.reason == "budget"
        assert campaign.state.progress.programs == 10
        told = replies(campaign)
        assert [event.call.reply and campaign.log.text(event.call.reply) for event in told[:1]] == ["x = 0.5"]
        first = told[0].call
        assert (first.model, first.purpose, first.revision, first.finish) == ("fast", "propose", "fake-1", "")
        assert [part.name for part in first.prompt] == ["task", "parent"]
        assert campaign.log.text(first.prompt[0].text) == campaign.task.brief
        assert campaign.log.text(first.thinking) == "hm"
        assert spent(campaign) == Cost(len(told), 120 * len(told), 0.0, 0.0)
        proposals = [event.event for event in campaign.log.events(only=Settled)]
        assert {event.record.origin.model for event in proposals if event.record.origin.kind == "proposal"} == {"fast"}


@pytest.mark.parametrize(("max_tokens", "kept"), [(16, 1 << 16), (16_384, 1 << 18)])
def test_an_answer_longer_than_its_tokens_can_be_is_cut_in_the_log_and_says_so(
    models: Workbench, max_tokens: int, kept: int
) -> None:
    """Whatever a server sends, a call takes so much of the disk at most."""
    section = {**ONE["models"]["members"][0], "max_tokens": max_tokens}
    fake = FakeModel(lambda number: f"x = {number}.5" + " " * (1 << 20))
    with models.create(models={"members": [section]}, operators=ONE["operators"], budget=["3programs"]) as campaign:
        played(models, campaign, fake)
        told = [event.call for event in replies(campaign)]
        assert {(len(campaign.log.text(call.reply)), call.finish) for call in told} == {(kept, "length")}


def test_a_replay_of_a_campaign_with_models_asks_none(models: Workbench) -> None:
    with models.create(**ONE, budget=["10programs"]) as campaign:
        played(models, campaign, FakeModel())
        live, digest = spent(campaign), campaign.digest()
    with models.open(readonly=True) as again:
        assert (spent(again), again.digest(), again.state.difference) == (live, digest, None)


def test_calls_are_in_the_log_before_the_records_that_came_of_them(models: Workbench) -> None:
    with models.create(**ONE, budget=["8programs"]) as campaign:
        played(models, campaign, FakeModel())
        order: dict[int, list[str]] = {}
        for stamped in campaign.log.events():
            match stamped.event:
                case Asked(step=step, action=Propose()):
                    order.setdefault(step, []).append("asked")
                case Replied(step=step):
                    order[step].append("replied")
                case Settled(record=record) if record.origin.kind == "proposal":
                    order[record.origin.step].append("settled")
        assert all(events == ["asked", "replied", "settled"][: len(events)] for events in order.values())


def test_no_more_calls_are_in_flight_than_the_model_takes(models: Workbench) -> None:
    fake = FakeModel()
    with models.create(**ONE, budget=["30programs"]) as campaign:
        played(models, campaign, fake)
    assert 1 <= fake.most <= 4


def test_a_reply_that_cannot_be_used_goes_back_once(models: Workbench) -> None:
    fake = FakeModel(lambda number: "nonsense" if number % 2 == 0 else f"x = {number}.25")
    with models.create(**ONE, budget=["4programs"], workers=1, deterministic=True) as campaign:
        played(models, campaign, fake)
        told = replies(campaign)
        assert [event.call.purpose for event in told[:4]] == ["propose", "repair", "propose", "repair"]
        assert [event.index for event in told[:4]] == [0, 1, 0, 1]
        assert [part.name for part in told[1].call.prompt] == ["task", "parent", "reply", "complaint"]


def test_a_run_whose_every_reply_was_unusable_says_how_often_and_why(models: Workbench) -> None:
    with models.create(**ONE, budget=["12calls"], workers=1, deterministic=True) as campaign:
        assert played(models, campaign, FakeModel(lambda _: "nonsense")).unusable == {"no number in 'nonsense'": 6}


def test_a_run_with_one_usable_reply_counts_no_unusable_ones(models: Workbench) -> None:
    fake = FakeModel(lambda number: "nonsense" if number else "x = 3.5")
    with models.create(**ONE, budget=["9calls"], workers=1, deterministic=True) as campaign:
        assert played(models, campaign, fake).unusable == {}


def test_a_call_that_fails_is_a_screened_record_with_its_reason(models: Workbench) -> None:
    fake = FakeModel(
        lambda number: ModelError("no choices. Try: look at the server") if number == 0 else f"x = {number}.5"
    )
    with models.create(**ONE, budget=["3programs"], deterministic=True) as campaign:
        played(models, campaign, fake)
        failed = replies(campaign)[0].call
        assert (failed.error, failed.reply) == ("no choices. Try: look at the server", "")
        records = [event.event.record for event in campaign.log.events(only=Settled)]
        screened = [record for record in records if record.evaluation.outcome is Outcome.SCREENED]
        assert ["no choices" in campaign.log.text(record.evaluation.feedback) for record in screened] == [True]


def test_two_deterministic_campaigns_with_equal_answers_are_equal(models: Workbench) -> None:
    digests = []
    for name in ("one", "two"):
        with models.create(**ONE, budget=["12programs"], deterministic=True, name=name) as campaign:
            played(models, campaign, FakeModel())
            digests.append(campaign.digest())
    assert digests[0] == digests[1]


def test_a_model_that_is_gone_ends_the_run_and_its_steps_are_kept(models: Workbench) -> None:
    gone = FakeModel(lambda number: ModelGone("its key was refused. Try: check it"))
    with models.create(**ONE, budget=["5programs"]) as campaign:
        with pytest.raises(ModelGone, match="model 'fast': its key was refused"):
            played(models, campaign, gone)
        assert replies(campaign) == []
        waiting = sorted(campaign.state.steps)
        assert waiting
    with models.open() as again:
        played(models, again, FakeModel())
        assert again.state.progress.programs == 5
        settled = {event.event.record.origin.step for event in again.log.events(only=Settled)}
        assert set(waiting) <= settled


def test_without_its_models_a_campaign_goes_on_offline_where_it_may(models: Workbench) -> None:
    offline = {**ONE, "operators": {"names": ["writes", "tune_literals"]}, "outage": {"then": "offline"}}
    with models.create(**offline, budget=["20programs"]) as campaign:
        ending = played(models, campaign, FakeModel(lambda number: ModelGone("down for too long")))
        assert ending.reason == "budget"
        assert campaign.state.progress.programs == 20
        operators = {campaign.state.history.operator(record) for record in range(1, len(campaign.state.history) + 1)}
        assert "tune_literals" in operators


def test_another_model_takes_over(models: Workbench) -> None:
    two = {**ONE, "models": {"members": [{"name": "fast", "kind": "fake"}, {"name": "slow", "kind": "fake"}]}}
    with models.create(**two, budget=["15programs"]) as campaign:
        ending = played(models, campaign, FakeModel(lambda number: ModelGone("gone")), FakeModel())
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 15)
        assert set(reasons(campaign)) == {"model 'fast': gone"}


def test_a_strategy_sees_the_models_that_still_answer(models: Workbench) -> None:
    """So that it names none that is gone, for which the campaign would wait."""
    two = {**ONE, "models": {"members": [{"name": "fast", "kind": "fake"}, {"name": "slow", "kind": "fake"}]}}
    with models.create(**two, budget=["15programs"]) as campaign:
        ask, seen = campaign.strategy.ask, []

        def name_first(view, rng):
            seen.append(tuple(view.models))
            action = ask(view, rng)
            return replace(action, selection=replace(action.selection, model=view.models[0]))

        campaign.strategy.ask = name_first
        ending = played(models, campaign, FakeModel(lambda number: ModelGone("gone")), FakeModel())
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 15)
        assert list(dict.fromkeys(seen)) == [("fast", "slow"), ("slow",)]


def reasons(campaign) -> list[str]:
    """Why proposals were not evaluated."""
    records = [event.event.record for event in campaign.log.events(only=Settled)]
    screened = [record for record in records if record.evaluation.outcome is Outcome.SCREENED]
    return [campaign.log.text(record.evaluation.feedback) for record in screened]


def test_a_model_whose_calls_all_fail_ends_the_run_with_its_last_error(models: Workbench) -> None:
    """And the steps whose call was not the last of another run's are kept."""
    failing = FakeModel(lambda number: ModelError(f"the program ended with status {number}. Try: run it by hand"))
    one = {**ONE, "models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 1}]}}
    with models.create(**one, budget=["100calls"]) as campaign:
        last = "model 'fast': 20 calls in a row failed, the last one: the program ended with status 19. Try: run it by hand"
        with pytest.raises(ModelGone, match=last):
            played(models, campaign, failing)
        assert (len(failing.prompts), campaign.state.progress.calls) == (20, 20)
        assert campaign.state.progress.screened <= 19
        assert campaign.state.steps
    with models.open() as again:
        played(models, again, FakeModel())
        assert again.state.progress.calls == 100


def test_a_model_that_answers_now_and_then_is_kept(models: Workbench) -> None:
    """Failures count only where nothing was answered in between."""
    moody = FakeModel(lambda number: f"x = {number}.5" if number % 20 == 19 else ModelError("no choices"))
    one = {**ONE, "models": {"members": [{"name": "fast", "kind": "fake", "concurrency": 1}]}}
    with models.create(**one, budget=["3programs"]) as campaign:
        assert played(models, campaign, moody).reason == "budget"
        assert campaign.state.progress.calls >= 60


def test_a_model_that_is_given_up_while_others_go_on_is_told(
    models: Workbench, caplog: pytest.LogCaptureFixture
) -> None:
    """Once, with its last failure."""
    fakes = [{"name": "fast", "kind": "fake"}, {"name": "slow", "kind": "fake"}]
    with models.create(
        models={"members": fakes, "choice": "weights"}, operators={"names": ["writes"]}, budget=["80programs"]
    ) as campaign:
        broken = FakeModel(lambda number: ModelError("status 3"))
        assert played(models, campaign, broken, FakeModel()).reason == "budget"
    told = [record.getMessage() for record in caplog.records if record.name.startswith("evolve.engine")]
    expected = "model 'fast' is asked no more in this run: 20 calls in a row failed, the last one: status 3. Left to propose: slow"
    assert told == [expected]


REFLECTS = {
    "models": {
        "members": [
            {"name": "fast", "kind": "fake", "concurrency": 4},
            {"name": "wise", "kind": "fake", "max_tokens": 90_000},
        ],
        "purposes": {"reflect": "wise"},
    },
    "operators": {"names": ["writes"]},
}


def test_a_model_that_wrote_lessons_and_is_gone_takes_no_other_with_it(models: Workbench) -> None:
    """The campaign goes on without lessons."""
    with models.create("lessons.every=5", **REFLECTS, budget=["14programs"]) as campaign:
        wise = FakeModel(lambda number: ModelGone("its quota is used up"))
        ending = played(models, campaign, FakeModel(), wise)
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 14)
        assert (campaign.state.lessons, len(wise.prompts)) == ([], 1)
        assert set(reasons(campaign)) == {"model 'wise': its quota is used up"}


def test_a_model_that_serves_another_purpose_may_propose_beside_the_others(models: Workbench) -> None:
    """Each proposal is made by the model that its step says."""
    both = {**REFLECTS, "models": {**REFLECTS["models"], "purposes": {"reflect": "wise", "propose": "wise"}}}
    with models.create(**both, budget=["12programs"]) as campaign:
        played(models, campaign, FakeModel(), FakeModel(lambda number: f"x = {number}.75"))
        steps = {event.event.step: event.event.action for event in campaign.log.events(only=Asked)}
        made = {(steps[event.step].selection.model, event.call.model) for event in replies(campaign)}
        assert made == {("fast", "fast"), ("wise", "wise")}


def test_lessons_that_nobody_can_pay_end_no_campaign(models: Workbench) -> None:
    """What is left pays for proposals of a cheaper model."""
    with models.create("lessons.every=5", **REFLECTS, budget=["60000tokens"]) as campaign:
        ending = played(models, campaign, FakeModel(), FakeModel())
        assert (ending.reason, campaign.state.lessons) == ("budget", [])
        assert campaign.state.progress.tokens > 40_000
        assert any("does not pay for one more call" in reason for reason in reasons(campaign))


def test_a_budget_in_tokens_is_never_overshot(models: Workbench) -> None:
    with models.create(**ONE, budget=["100000tokens"]) as campaign:
        ending = played(models, campaign, FakeModel())
        assert ending.reason == "budget"
        assert campaign.state.progress.calls >= 5
        assert campaign.state.progress.tokens <= 100000


def noisy_report(report: Report, noise: float) -> Report:
    """One that took a second, with noise on its fitness."""
    fitness = (report.evaluation.fitness or 0.0) + noise
    return replace(report, evaluation=replace(report.evaluation, fitness=fitness, seconds=1.0))


def test_while_a_model_is_waited_for_the_workers_measure(models: Workbench, circle_task: Task) -> None:
    """Whatever the share of measurements, here none: nothing else would use the workers."""
    task, measured = replace(circle_task, deterministic=False), threading.Event()
    evaluated = Counter[float]()

    def judge(job: Job) -> Report:
        number, report = number_of(dict(job.files)), near_seven(job)
        evaluated[number] += 1
        if number == 6.5 and evaluated[number] == 2:
            measured.set()
        return noisy_report(report, 0.5 * (-1) ** evaluated[number])

    fake = FakeModel(lambda number: f"x = {number + 6}.5", hold=measured, free=1)
    with models.create(**ONE, confirm={"share": 0.0}, budget=["2calls", "60s"], task=task) as campaign:
        run(campaign, FakeExecutor(judge), Seen(), members(campaign, fake))
        assert campaign.seconds < 30.0


def test_they_do_not_where_a_budget_counts_evaluations(models: Workbench, circle_task: Task) -> None:
    """The share of measurements is none here; what is measured at the end comes after the second."""
    noise = itertools.cycle((0.5, -0.5))

    def judge(job: Job) -> Report:
        return noisy_report(near_seven(job), next(noise))

    fake = FakeModel(lambda number: f"x = {number + 6}.5", hold=threading.Event(), free=1)
    task = replace(circle_task, deterministic=False)
    with models.create(**ONE, budget=["1000evaluations", "1s"], confirm={"share": 0.0}, task=task) as campaign:
        run(campaign, FakeExecutor(judge), Seen(), members(campaign, fake))
        found = [(stamped.active, stamped.event.action) for stamped in campaign.log.events(only=Asked)]
        early = [action.why for active, action in found if active < 0.9 and isinstance(action, Measure)]
        assert set(early) == {NOISE}


def test_an_interrupt_gives_up_the_calls_in_flight_and_the_next_run_makes_them(models: Workbench) -> None:
    never = threading.Event()
    fake = FakeModel(hold=never)
    with models.create(**ONE, budget=["6programs", "1s"]) as campaign:
        assert played(models, campaign, fake).reason == "budget"
        assert (replies(campaign), len(campaign.state.steps)) == ([], STEPS)
    with models.open() as again:
        again.change({"budget": ["6programs"]})
        played(models, again, FakeModel())
        assert again.state.progress.programs == 6


def test_what_was_answered_before_a_crash_is_not_asked_again(models: Workbench) -> None:
    """The log is cut after a reply, before the record that came of it."""
    fake = FakeModel()
    with models.create(**ONE, budget=["6programs"], deterministic=True) as campaign:
        played(models, campaign, fake)
        events = [stamped.event for stamped in campaign.log.events()]
        path = campaign.log.path
    last = max(number for number, event in enumerate(events) if isinstance(event, Replied))
    with models.open(str(cut(path, last + 1))) as again:
        assert [list(step.replies) for step in again.state.steps.values()] == [[0]]
        second = FakeModel(lambda number: f"x = {number + 50}.5")
        played(models, again, second)
        assert (again.state.progress.programs, again.state.progress.calls) == (6, 6)
        assert second.prompts == []


def test_lessons_are_asked_for_each_time_that_enough_has_settled(models: Workbench) -> None:
    with models.create("lessons.every=5", **ONE, budget=["14programs"], deterministic=True) as campaign:
        played(models, campaign, FakeModel())
        lessons = [lesson.text for lesson in campaign.state.lessons]
        assert len(lessons) >= 2
        assert [text.rpartition(" after ")[2] for text in lessons[:2]] == ["0 lessons", "1 lessons"]
        assert {lesson.by for lesson in campaign.state.lessons} == {"reflect"}


@pytest.mark.parametrize("deterministic", [True, False])
def test_lessons_are_not_asked_for_because_lessons_were_written(models: Workbench, deterministic: bool) -> None:
    """Else a campaign that learns of every record would do nothing but learn."""
    with models.create("lessons.every=1", **ONE, budget=["10programs"], deterministic=deterministic) as campaign:
        ending = played(models, campaign, FakeModel())
        purposes = [event.call.purpose for event in replies(campaign)]
        assert (ending.reason, campaign.state.progress.programs) == ("budget", 10)
        assert purposes.count("reflect") <= purposes.count("propose") + 1


def test_judges_that_would_idle_get_proposals_that_need_no_model(models: Workbench) -> None:
    """Unless programs are what the budget counts."""
    never = threading.Event()
    both = {**ONE, "operators": {"names": ["writes", "tune_literals"]}}
    with models.create(**both, budget=["1s"]) as campaign:
        played(models, campaign, FakeModel(hold=never))
        assert campaign.state.progress.programs > 10
    counted = {**both, "strategy": {"name": "islands", "settings": {"floor": 0.5}}}
    with models.create(**counted, budget=["500programs", "1s"]) as campaign:
        played(models, campaign, FakeModel(hold=never))
        asked = [event.event.action for event in campaign.log.events(only=Asked)]
        writing = [action for action in asked if isinstance(action, Propose) and action.selection.model]
        assert len(writing) == STEPS
        assert campaign.state.progress.programs < 100


def test_what_is_ruled_out_is_known_to_a_step_as_of_when_it_was_asked(models: Workbench) -> None:
    """Also where it runs again, in a later run: its prompt is a function of the log before it."""
    seen: list[frozenset[str]] = []

    class Looks(Writes):
        def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
            seen.append(frozenset(context.quarantined))
            return super().propose(selection, context)

    entry = OperatorEntry("writes", lambda settings: Looks(), needs_model=True)
    operators = dict(models.plugins.operators) | {"writes": Registered("fakes", entry)}
    models.plugins = replace(models.plugins, operators=operators)
    never = threading.Event()
    with models.create(**ONE, budget=["9programs", "1s"]) as campaign:
        played(models, campaign, FakeModel(hold=never))
        before = len(seen)
        cheat = ProgramId("cheat")
        with campaign.log.transaction():
            campaign.write(Ruled("quarantine", cheat, "person"))
    with models.open() as again:
        again.change({"budget": ["9programs"]})
        played(models, again, FakeModel())
    again_as_of_then = seen[before : 2 * before]
    assert (set(seen[:before]), set(again_as_of_then)) == ({frozenset()}, {frozenset()})
    assert set(seen[2 * before :]) == {frozenset({cheat})}


def test_a_model_that_embeds_no_text_is_no_embedder(tmp_path: Path) -> None:
    """It is found where the models are made, before a campaign is."""
    folder = {"folder": str(tmp_path / "letters")}
    mailboxes = [{"name": name, "kind": "mailbox", "settings": folder} for name in ("a", "b")]
    settings = settings_from({"task": "x", "models": {"members": mailboxes, "purposes": {"embed": "b"}}})
    with (
        ExitStack() as resources,
        pytest.raises(ConfigError, match=r"model 'b': it turns no texts into vectors. Try: "),
    ):
        Members.open(settings, plugins.load(), resources)
