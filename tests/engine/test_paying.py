"""Campaigns that end because their models have spent what there was: no budget is overshot, and every call is in the log."""

import random
import threading
from collections.abc import Sequence

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench
from model_fakes import FakeModel, members, with_operators

from evolve import report
from evolve.engine import run
from evolve.types import Prompt, Replied, Reply, Usage

DEAR = {
    "name": "dear",
    "kind": "openai",
    "concurrency": 64,
    "max_tokens": 200,
    "timeout_seconds": 64,
    "prompt_price": 1000,
    "completion_price": 4000,
    "gpus": 1,
}


class Spends(FakeModel):
    """Answers after a moment, and has used anything between nothing and all that it may; `times` as much where it does not keep to that."""

    def __init__(self, times: int = 1) -> None:
        super().__init__(self._later)
        self._times = times
        self._rng = random.Random(7)

    def _later(self, number: int) -> str:
        threading.Event().wait(0.005)
        return f"x = {number}.5"

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        (reply,) = super().complete(prompt, samples=samples, deadline=deadline, cancelled=cancelled)
        used = self._rng.randint(0, prompt.size), self._rng.randint(0, prompt.max_tokens * self._times)
        return [Reply(reply.text, usage=Usage(*used), seconds=self._rng.uniform(0, 64))]


@pytest.mark.parametrize("budget", ["30000tokens", "100calls", "40usd", "0.02gpuh"])
def test_a_budget_is_not_overshot_with_many_calls_in_flight(bench: Workbench, budget: str) -> None:
    """As many as fit into it, and 64 at most; and the campaign says that it is spent."""
    with_operators(bench)
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=[budget]) as campaign:
        fake = Spends()
        ending = run(campaign, FakeExecutor(), Seen(), members(campaign, fake))
        progress = campaign.state.progress
        assert ending.reason == "budget"
        assert fake.most > 5
        assert campaign.budget.affords(progress)
        assert campaign.budget.used(progress, None, 0.0) > 0.7
        calls = [stamped.event.call for stamped in campaign.log.events(only=Replied)]
        assert (len(calls), sum(call.cost for call in calls)) == (progress.calls, pytest.approx(progress.money))
        assert report.costs(campaign).total.calls == progress.calls == len(fake.prompts)


def test_a_model_that_does_not_keep_to_its_bound_ends_the_campaign_and_is_told_in_full(bench: Workbench) -> None:
    """The overshoot is in the log."""
    with_operators(bench)
    limits = ["30000tokens"]
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=limits) as campaign:
        ending = run(campaign, FakeExecutor(), Seen(), members(campaign, Spends(times=200)))
        assert ending.reason == "budget"
        assert campaign.state.progress.tokens > 30_000
        assert not campaign.budget.affords(campaign.state.progress)
        over = campaign.state.progress.tokens - 30_000
        assert campaign.budget.remaining(campaign.state.progress, None, 0.0) == f"0 tokens ({over:,} tokens over it)"


@pytest.mark.parametrize("budget", ["100calls", "30000tokens"])
def test_what_was_paid_for_is_judged_before_the_campaign_ends(bench: Workbench, budget: str) -> None:
    """Each answer has its record; a step that could not pay its call waits for a larger budget, and no other does."""
    with_operators(bench)
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=[budget]) as campaign:
        run(campaign, FakeExecutor(), Seen(), members(campaign, Spends()))
        answered = {stamped.event.step for stamped in campaign.log.events(only=Replied)}
        assert answered.isdisjoint(campaign.state.steps)
        assert campaign.state.progress.screened + campaign.state.progress.programs == len(answered)


def test_a_check_of_a_model_is_paid_and_ends_nothing_itself(bench: Workbench) -> None:
    """Where a budget is overshot already, the run ends as every run with a spent budget does."""
    with_operators(bench)
    limits = ["30000tokens"]
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=limits) as campaign:
        run(campaign, FakeExecutor(), Seen(), members(campaign, Spends(times=200)))
        before = campaign.state.progress
        again = members(campaign, FakeModel())
        again["dear"].checked = Usage(7, 1, exact=True)
        assert run(campaign, FakeExecutor(), Seen(), again).reason == "budget"
        assert (campaign.state.progress.calls, campaign.state.progress.tokens) == (before.calls + 1, before.tokens + 8)


@pytest.mark.parametrize("replies", [[], [Reply("x = 7.5", usage=Usage(9, 1)), Reply("x = 8.5", usage=Usage(9, 1))]])
def test_a_model_that_answers_never_or_twice_pays_for_what_is_used(bench: Workbench, replies: list[Reply]) -> None:
    """A plugin's slip is no crash, and no answer comes to a program that the log does not know."""

    class Slips(FakeModel):
        def complete(
            self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
        ) -> Sequence[Reply]:
            return replies if not self.prompts and not self.prompts.append(prompt) else [Reply("x = 9.5")]

    with_operators(bench)
    with bench.create(
        models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=["2programs"], deterministic=True
    ) as campaign:
        ending = run(campaign, FakeExecutor(), Seen(), members(campaign, Slips()))
        calls = [stamped.event.call for stamped in campaign.log.events(only=Replied)]
        told = [call.reply and campaign.log.text(call.reply) for call in calls]
        assert ending.reason in ("budget", "exhausted")
        assert told[0] == ("x = 7.5" if replies else "")
        assert "x = 8.5" not in told
        assert len(campaign.state.history) - 1 == len(calls)


def test_time_that_is_up_ends_a_campaign_whatever_was_paid_for(bench: Workbench) -> None:
    """Its steps wait for the next run, which does not pay again."""
    with_operators(bench)
    limits = ["5calls", "1s"]
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=limits) as campaign:
        held = FakeModel(hold=threading.Event())
        assert run(campaign, FakeExecutor(), Seen(), members(campaign, held)).reason == "budget"
        assert campaign.state.steps
        assert campaign.state.progress.calls == 0


def test_a_budget_that_pays_for_no_call_ends_the_run_and_says_what_a_call_may_take(bench: Workbench) -> None:
    """And what would have been spent with it."""
    with_operators(bench)
    limits = ["300tokens"]
    with bench.create(models={"members": [DEAR]}, operators={"names": ["writes"]}, budget=limits) as campaign:
        ending = run(campaign, FakeExecutor(), Seen(), members(campaign, FakeModel()))
        assert (ending.reason, ending.answered, ending.failed) == ("budget", 0, 0)
        assert "does not pay for one more call: it may take" in ending.unpaid
        assert ending.wanted is not None
        assert ending.wanted.tokens > 300
