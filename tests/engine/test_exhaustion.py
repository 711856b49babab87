"""When a campaign has nothing left to try, and who is asked until then."""

import threading
import time
from concurrent.futures import Future
from dataclasses import replace

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench, near_seven
from model_fakes import FakeModel, members, with_operators

from evolve.campaign import Campaign
from evolve.engine import Ending, run
from evolve.evaluation import Job, Report
from evolve.hookspecs import OperatorEntry
from evolve.plugins import Registered
from evolve.types import Child, EditError, Message, ModelGone, Outcome, Program, Prompt, Section
from evolve_compare import read_outcome

MODELS = {"members": [{"name": "slow", "kind": "fake", "concurrency": 2}]}
AHEAD = {"members": [{"name": "slow", "kind": "fake", "concurrency": 4}]}
"""One proposal is made ready beside its calls."""


def program(number: float) -> Program:
    """With a number that nobody can tune."""
    return Program({"seed.py": f"def value():\n    return float('{number}')\n"})


def judge(job: Job) -> Report:
    """As always, of a number in quotes, too."""
    files = {path: text.replace("float('", "").replace("')", "") for path, text in dict(job.files).items()}
    return near_seven(replace(job, files=files))


class Quotes:
    """Asks for a program, and makes one of what is answered."""

    def __init__(self, settings: object = None) -> None:
        """It has no settings."""

    def propose(self, selection, context):
        prompt = Prompt((Message("user", (Section("task", f"{context.rng.random()}"),)),))
        (reply,) = context.model("propose").complete(prompt)
        if not reply.text.startswith("x = "):
            return [Child(None, "no number in it")]
        return [Child(program(float(reply.text.removeprefix("x = "))))]


class Mute:
    """Needs a model, and never asks it."""

    def __init__(self, settings: object = None) -> None:
        """It has no settings."""

    def propose(self, selection, context):
        raise EditError("the program is too long to be shown")


class Patient(Seen):
    """Lets go of what is held when nothing has settled for half a second."""

    def __init__(self, release: threading.Event) -> None:
        super().__init__()
        self._release = release
        self._since = (0, time.monotonic())

    def turned(self, campaign: Campaign) -> None:
        if len(self.events) != self._since[0]:
            self._since = len(self.events), time.monotonic()
        elif time.monotonic() - self._since[1] > 0.5:
            self._release.set()


class Slow(FakeExecutor):
    """All but the seed is evaluated when that is let go of."""

    def __init__(self, release: threading.Event) -> None:
        super().__init__(judge)
        self._release = release

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        if not self.jobs:
            return super().submit(job_id, job)
        future: Future[bytes] = Future()

        def answer() -> None:
            assert self._release.wait(60)
            if future.set_running_or_notify_cancel():
                future.set_result(FakeExecutor(judge).submit(job_id, job).result())

        self._future = future
        threading.Thread(target=answer, daemon=True).start()
        return future

    def cancel(self, job_id: str) -> None:
        self._future.cancel()


@pytest.fixture
def models(bench: Workbench) -> Workbench:
    """The bench with operators that need a model, and a seed without a number to tune."""
    with_operators(bench)
    entries = (OperatorEntry("quotes", Quotes, needs_model=True), OperatorEntry("mute", Mute, needs_model=True))
    operators = dict(bench.plugins.operators) | {entry.name: Registered("fakes", entry) for entry in entries}
    bench.plugins = replace(bench.plugins, operators=operators)
    bench.task = replace(bench.task, seed=program(5))
    return bench


def created(bench: Workbench, *operators: str, **values: object) -> Campaign:
    return bench.create(models=MODELS, operators={"names": operators}, **values)


def played(campaign: Campaign, model: FakeModel | None, watch: Seen | None = None) -> Ending:
    company = members(campaign, *([model] if model else ()))
    return run(campaign, FakeExecutor(judge), watch or Seen(), company)


def outcomes(campaign: Campaign, operator: str) -> list[Outcome]:
    """How the proposals of an operator ended, in their order."""
    history = campaign.state.history
    return [history.outcome(record) for record in range(1, len(history) + 1) if history.operator(record) == operator]


def test_a_model_that_takes_long_is_waited_for_while_others_have_nothing_to_do(models: Workbench) -> None:
    """Its whole budget is used; an operator that has nothing to do is asked a few times for each change of the archive."""
    answers = threading.Event()
    with created(models, "quotes", "tune_literals", budget=["6calls"]) as campaign:
        ending = played(campaign, FakeModel(lambda number: f"x = {number}.25", answers), Patient(answers))
        assert (ending.reason, campaign.state.progress.calls) == ("budget", 6)
        assert outcomes(campaign, "quotes").count(Outcome.OK) >= 5
        assert set(outcomes(campaign, "tune_literals")) == {Outcome.SCREENED}
        assert len(outcomes(campaign, "tune_literals")) < 30


@pytest.mark.integration
def test_who_had_nothing_to_do_is_asked_again_when_the_archive_has_something_for_it(models: Workbench) -> None:
    """The model writes programs with a number."""
    answers = threading.Event()

    def answer(number: int) -> str:
        time.sleep(0.02)
        return f"x = {number}.25"

    with created(models, "writes", "tune_literals", budget=["60calls"]) as campaign:
        played(campaign, FakeModel(answer, answers), Patient(answers))
        assert outcomes(campaign, "tune_literals")[:8] == [Outcome.SCREENED] * 8
        assert Outcome.OK in outcomes(campaign, "tune_literals")


@pytest.mark.integration
def test_a_budget_of_calls_that_is_used_up_is_spent(models: Workbench) -> None:
    """Calls that were made ready for it are none that it does not pay for."""
    with models.create(models=AHEAD, operators={"names": ["quotes"]}, budget=["6calls"]) as campaign:
        model = FakeModel(lambda number: time.sleep(0.05) or f"x = {number}.25")
        ending = played(campaign, model)
        assert (ending.reason, ending.unpaid, campaign.state.progress.calls) == ("budget", "", 6)


def test_answers_that_are_all_refused_use_the_whole_budget_of_calls(models: Workbench) -> None:
    """More of them than refusals that end a campaign."""
    with created(models, "quotes", "tune_literals", budget=["600calls"]) as campaign:
        ending = played(campaign, FakeModel(lambda number: "no"))
        assert (ending.reason, campaign.state.progress.calls) == ("budget", 600)
        assert read_outcome(campaign).status == "finished"


def test_answers_that_are_all_refused_end_a_campaign_that_nothing_else_would_end(models: Workbench) -> None:
    """Its budget is one in programs, and there will be none; nothing more is asked in the next run."""
    with created(models, "quotes", "tune_literals", budget=["600programs"]) as campaign:
        assert played(campaign, FakeModel(lambda number: "no")).reason == "exhausted"
        assert 500 <= campaign.state.progress.calls < 510
        assert read_outcome(campaign).status == "exhausted"


def test_a_budget_in_money_that_no_model_spends_keeps_no_campaign_going(models: Workbench) -> None:
    """As one in programs alone: what costs nothing never spends it."""
    free = {"members": [{"name": "slow", "kind": "command", "settings": {"argv": "none"}}]}
    values = {"operators": {"names": ["quotes"]}, "budget": ["600programs", "5usd"]}
    with models.create(models=free, **values) as campaign:
        assert played(campaign, FakeModel(lambda number: "no")).reason == "exhausted"
        assert 500 <= campaign.state.progress.calls < 510


def test_who_needs_a_model_and_never_asks_it_ends_no_campaign_later_than_others(models: Workbench) -> None:
    """No call would ever spend its budget."""
    with created(models, "mute", "tune_literals", budget=["5calls"]) as campaign:
        ending = played(campaign, FakeModel())
        assert ending.reason == "exhausted"
        assert len(campaign.state.history) < 1000
        assert {Outcome.SCREENED} == set(outcomes(campaign, "mute"))


@pytest.mark.parametrize("other", ["crossover", "fix"])
def test_who_finds_no_parent_yet_is_no_error_while_others_rest(models: Workbench, other: str) -> None:
    """Neither a second program nor one that failed will ever be there."""
    with created(models, other, "tune_literals", budget=["5calls"]) as campaign:
        ending = played(campaign, FakeModel())
        assert (ending.reason, campaign.state.progress.calls) == ("exhausted", 0)
        assert read_outcome(campaign).status == "exhausted"


def test_other_settings_of_operators_may_bring_something_new(models: Workbench) -> None:
    """Another budget does not."""
    with models.create(budget=["20programs"]) as campaign:
        played(campaign, None)
        campaign.change({"budget": ["40programs"]})
        assert read_outcome(campaign).status == "exhausted"
        campaign.change({"operators": {"names": ["tune_literals"], "settings": {}}})
        assert read_outcome(campaign).status == "unfinished"


def test_without_its_models_a_campaign_ends_when_the_others_have_nothing_to_do(models: Workbench) -> None:
    """They are asked as in a campaign that never had any."""
    offline = {"outage": {"then": "offline"}}
    with created(models, "quotes", "tune_literals", budget=["20programs"], **offline) as campaign:
        ending = played(campaign, FakeModel(lambda number: ModelGone("gone for good")))
        assert ending.reason == "exhausted"
        assert ending.refusal.startswith("no numeric literal to tune in seed.py")
        assert len(outcomes(campaign, "tune_literals")) > 490


def test_refusals_in_a_row_are_counted_over_all_runs(models: Workbench) -> None:
    """So that a campaign that had nothing left to try ends at once when it goes on, and says why."""
    with models.create(budget=["20programs"]) as campaign:
        assert played(campaign, None).reason == "exhausted"
        records = len(campaign.state.history)
        assert read_outcome(campaign).status == "exhausted"
    with models.open() as again:
        ending = played(again, None)
        assert (ending.reason, len(again.state.history)) == ("exhausted", records)
        assert ending.refusal.startswith("no numeric literal to tune in seed.py")


def test_what_is_being_judged_is_waited_for(models: Workbench) -> None:
    """It may be what brings something new to try."""
    release = threading.Event()

    class Once:
        def propose(self, selection, context):
            if len(context.history) > 1:
                raise EditError("nothing any more")
            return [Child(program(6))]

    with models.create(budget=["20programs"]) as campaign:
        campaign.operator = lambda name: Once()
        ending = run(campaign, Slow(release), Patient(release))
        assert (ending.reason, ending.left, ending.refusal) == ("exhausted", 0, "nothing any more")
        assert (campaign.state.progress.programs, campaign.state.archive.best.fitness) == (1, -1.0)
