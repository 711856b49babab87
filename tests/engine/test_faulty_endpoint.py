"""A campaign behind an endpoint that fails: no proposal is lost, none is paid twice, and the log counts what was asked."""

import threading
from collections import Counter
from contextlib import ExitStack

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench
from model_fakes import with_operators

from evolve.engine import run
from evolve.engine.members import Members
from evolve.types import Asked, ModelError, ModelGone, Outcome, Propose, Replied, Settled
from tests.models import fault_server
from tests.models.fault_server import FaultServer, Step, failure

pytestmark = pytest.mark.integration

FAULTS = {
    "server error": [failure(500)],
    "a burst of overload": [failure(503), failure(503), failure(502)],
    "rate limit without a time": [failure(429)],
    "rate limit with a time": [failure(429, retry_after="0.05")],
    "connection dropped": [fault_server.DROP],
    "answer cut off": [fault_server.CUT],
    "web page with status 200": [fault_server.HTML],
    "truncated JSON": [fault_server.TRUNCATED],
    "no choices": [fault_server.NO_CHOICES],
    "content is null": [fault_server.NULL_CONTENT],
    "empty text": [fault_server.EMPTY],
    "two megabytes": [fault_server.HUGE],
    "too many choices": [Step(text="x = 77.5", choices=3)],
    "no usage": [Step(text="x = 77.5", usage=False)],
}


def numbers(count: int = 60) -> list[Step]:
    """Answers that are each another program."""
    return [Step(text=f"x = {number}.25") for number in range(count)]


def settings(server: FaultServer, **outage: object) -> dict[str, object]:
    member = {"name": "m", "settings": {"model": fault_server.MODEL, "base_url": server.url}, "concurrency": 3}
    return {"models": {"members": [member]}, "operators": {"names": ["writes"]}, "outage": outage}


def searched(campaign) -> None:
    """Runs the campaign with the models of its settings."""
    with ExitStack() as resources:
        members = Members.open(campaign.settings, campaign.plugins, resources)
        run(campaign, FakeExecutor(), Seen(), members)


@pytest.fixture
def models(bench: Workbench) -> Workbench:
    with_operators(bench)
    return bench


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_costs_no_proposal(models: Workbench, name: str) -> None:
    """Each step that was asked has settled, once; what the log counts is what the server was asked for."""
    steps = [fault_server.OK, *numbers(1), *FAULTS[name], *numbers()[1:]]
    with FaultServer(steps) as server, models.create(**settings(server), budget=["8programs"]) as campaign:
        searched(campaign)
        assert (campaign.state.progress.programs, campaign.state.steps) == (8, {})
        events = [stamped.event for stamped in campaign.log.events()]
        asked = [event.step for event in events if isinstance(event, Asked) and isinstance(event.action, Propose)]
        settled = Counter(
            event.record.origin.step
            for event in events
            if isinstance(event, Settled) and event.record.origin.kind == "proposal"
        )
        assert settled == Counter(asked)
        told = [event.call for event in events if isinstance(event, Replied)]
        assert sum(call.attempts for call in told) == server.count
        assert campaign.state.progress.tokens == sum(call.prompt_tokens + call.completion_tokens for call in told)


def test_nonsense_twice_is_a_screened_proposal_that_was_paid(models: Workbench) -> None:
    steps = [fault_server.OK, fault_server.HTML, fault_server.HTML, *numbers()]
    with FaultServer(steps) as server:
        campaign = models.create(**settings(server), budget=["3programs"], deterministic=True)
        with campaign:
            searched(campaign)
            records = [event.event.record for event in campaign.log.events(only=Settled)]
            screened = [record for record in records if record.evaluation.outcome is Outcome.SCREENED]
            assert len(screened) == 1
            assert "model failed" in campaign.log.text(screened[0].evaluation.feedback)
            failed = [event.event.call for event in campaign.log.events(only=Replied) if event.event.call.error]
            assert [(call.attempts, call.prompt_tokens > 0, call.exact) for call in failed] == [(2, True, False)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failure(401, "no such key"), "key"),
        (failure(404, "the model does not exist", "model_not_found"), "does not know the model"),
        (failure(429, "you exceeded your quota", "insufficient_quota"), "quota"),
    ],
)
def test_what_cannot_work_ends_the_start_with_one_error(models: Workbench, answer: Step, words: str) -> None:
    with FaultServer([answer]) as server, models.create(**settings(server), budget=["3programs"]) as campaign:
        with pytest.raises(ModelGone, match=f"model 'm'.*{words}.*Try: "):
            searched(campaign)
        assert (server.count, len(campaign.state.history)) == (1, 0)


def test_a_server_that_is_not_there_ends_the_start(models: Workbench) -> None:
    with FaultServer() as server:
        campaign = models.create(**settings(server), budget=["3programs"])
    with campaign, pytest.raises(ModelError, match="model 'm'"):
        searched(campaign)


def test_a_key_that_is_taken_away_ends_the_run_and_keeps_its_steps(models: Workbench) -> None:
    steps = [fault_server.OK, *numbers(3)]
    with FaultServer(steps, last=failure(401)) as server:
        with models.create(**settings(server), budget=["9programs"]) as campaign:
            with pytest.raises(ModelGone, match="key"):
                searched(campaign)
            waiting = set(campaign.state.steps)
            assert waiting
        server.answer_with([fault_server.OK, *numbers(40)[20:]], last=fault_server.OK)
        with models.open() as again:
            searched(again)
            assert again.state.progress.programs == 9
            settled = {event.event.record.origin.step for event in again.log.events(only=Settled)}
            assert waiting <= settled


def test_a_server_that_is_restarted_is_waited_for(models: Workbench) -> None:
    with (
        FaultServer([fault_server.OK, *numbers()]) as server,
        models.create(**settings(server, model_wait_seconds=30), budget=["12programs"]) as campaign,
    ):
        stopped = threading.Event()

        def restart() -> None:
            while server.count < 4:
                stopped.wait(0.005)
            server.stop()
            stopped.wait(0.7)
            server.start()

        restarting = threading.Thread(target=restart)
        restarting.start()
        searched(campaign)
        restarting.join()
        assert (campaign.state.progress.programs, campaign.state.steps) == (12, {})
        screened = campaign.state.progress.screened
        assert screened <= 3, "calls that were cut off may have been paid, and fail after the second try"


def test_an_endpoint_that_stays_dead_ends_the_run(models: Workbench) -> None:
    with (
        FaultServer([fault_server.OK, *numbers(3)], last=failure(503)) as server,
        models.create(**settings(server, model_wait_seconds=0), budget=["12programs"]) as campaign,
    ):
        with pytest.raises(ModelGone, match="down"):
            searched(campaign)
        assert campaign.state.progress.programs >= 3
        assert campaign.state.steps


def test_a_slow_server_delays_only_those_who_wait_for_it(models: Workbench) -> None:
    """Sixty-four calls at once, none of which is given up."""
    slow = [Step(text=f"x = {number}.25", delay=0.5) for number in range(64)]
    with FaultServer([fault_server.OK, *slow]) as server:
        values = settings(server)
        values["models"]["members"][0]["concurrency"] = 64  # type: ignore[index]
        with models.create(**values, budget=["64programs"], workers=32) as campaign:
            searched(campaign)
            assert (campaign.state.progress.programs, server.count) == (64, 65)
