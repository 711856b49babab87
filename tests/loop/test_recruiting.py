"""Models that come into a campaign while it runs: each answers before anything changes."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from loop_fakes import JUDGES, FakeExecutor, Workbench
from model_fakes import FakeModel, members, with_operators
from test_pausing import Retuning, impatient  # noqa: F401
from test_requests import answers

from evolve.config import ModelSection
from evolve.hookspecs import ModelEntry
from evolve.loop import run
from evolve.loop.recruiting import Recruits, missing
from evolve.plugins import Registered
from evolve.types import ModelError, Replied, SettingsChanged, Settled, Usage

FAST = {"name": "fast", "kind": "fake", "concurrency": 2}
OTHER = ModelSection(name="other", kind="fake")
ONE = {"models": {"members": [FAST]}, "operators": {"names": ["writes"]}, "budget": ["30programs"]}
BOTH = "models.members=[{name='fast', kind='fake', concurrency=4, weight=2.0}, {name='other', kind='fake'}]"


class Checked(FakeModel):
    """Says what its check has used, or that it cannot be called; it is checked when `go` is set."""

    made: list["Checked"] = []
    fails = ""
    go = threading.Event()

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(lambda number: f"x = {50 + number}.25")
        self.closed = False
        self.made.append(self)

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        while not self.go.wait(0.01):
            if cancelled.is_set():
                raise ModelError("given up")
        if self.fails:
            raise ModelError(self.fails)
        return Usage(7, 2, 0, exact=True)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def models(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """A bench whose plugins have the kind `fake`."""
    with_operators(bench)
    kinds = dict(bench.plugins.models) | {"fake": Registered("fakes", ModelEntry("fake", Checked))}
    bench.plugins = replace(bench.plugins, models=kinds)
    monkeypatch.setattr(Checked, "made", [])
    monkeypatch.setattr(Checked, "fails", "")
    monkeypatch.setattr(Checked, "go", threading.Event())
    Checked.go.set()
    return bench


def played(campaign: Any, watch: Retuning) -> None:
    run(campaign, FakeExecutor(), JUDGES, watch, members(campaign, FakeModel()))


def models_of(campaign: Any) -> set[str]:
    return {stamped.event.record.origin.model for stamped in campaign.log.events(only=Settled)} - {""}


def test_a_new_model_is_called_and_then_proposes(models: Workbench) -> None:
    """What its check has used is in the log, before the change."""
    watch = Retuning(BOTH)
    with models.create(**ONE) as campaign:
        played(campaign, watch)
        assert answers(campaign, watch.ids)[0].accepted
        assert models_of(campaign) == {"fast", "other"}
        checks = [stamped for stamped in campaign.log.events(only=Replied) if stamped.event.call.purpose == "check"]
        (change,) = campaign.log.events(only=SettingsChanged)
        assert [(one.event.call.model, one.event.call.prompt_tokens) for one in checks] == [("other", 7)]
        assert checks[0].number < change.number
        assert [model.closed for model in Checked.made] == [True]
        programs, shares = campaign.state.progress.programs, campaign.ensemble.shares()
    assert programs == 30
    with models.open(readonly=True) as again:
        assert (again.state.difference, again.ensemble.shares()) == (None, shares)


def test_a_model_that_does_not_answer_changes_nothing(models: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is told, and the model is closed."""
    monkeypatch.setattr(Checked, "fails", "there is no key. Do: set one")
    watch = Retuning(BOTH)
    with models.create(**ONE) as campaign:
        played(campaign, watch)
        (answer,) = answers(campaign, watch.ids)
        assert (answer.accepted, answer.told) == (False, "model 'other': there is no key. Do: set one")
        assert (models_of(campaign), list(campaign.log.events(only=SettingsChanged))) == ({"fast"}, [])
        assert [model.closed for model in Checked.made] == [True]


def test_a_run_ends_while_a_model_is_called(models: Workbench) -> None:
    """The request is kept for the next one."""
    Checked.go.clear()
    watch = Retuning(BOTH)
    with models.create(**ONE) as campaign:
        played(campaign, watch)
        assert (answers(campaign, watch.ids), models_of(campaign)) == ([None], {"fast"})
        assert [model.closed for model in Checked.made] == [True]


def test_weights_and_prices_call_nobody(models: Workbench) -> None:
    """The model is the same."""
    watch = Retuning("models.members.fast.weight=5", "models.members.fast.prompt_price=1000")
    with models.create(**ONE) as campaign:
        played(campaign, watch)
        assert (answers(campaign, watch.ids)[0].accepted, Checked.made) == (True, [])
        assert campaign.state.progress.money > 0


def test_a_model_that_leaves_is_asked_no_more(models: Workbench) -> None:
    """Another takes its place."""
    watch = Retuning("models.members=[{name='other', kind='fake'}]")
    with models.create(**ONE) as campaign:
        played(campaign, watch)
        assert campaign.state.progress.programs == 30
        later = [one.event.call.model for one in campaign.log.events(only=Replied)]
        assert later[-5:] == ["other"] * 5


def test_a_model_that_is_new_has_the_settings_of_the_engine_as_they_are_now(models: Workbench) -> None:
    """Not those of the moment when it was called: another request may have come since."""
    with models.create(**ONE) as campaign:
        old = campaign.settings
        new = old.model_copy(update={"models": old.models.model_copy(update={"members": (OTHER,)})})
        cheap = OTHER.model_copy(update={"concurrency": 3})
        later = new.model_copy(update={"models": new.models.model_copy(update={"members": (cheap,)})})
        recruits = Recruits(models.plugins, waits=True)
        found = recruits.ready("1", old.models, new)
        assert found is not None
        known = members(campaign, FakeModel())
        known.change(later, found)
        assert [(one.name, one.steps, one.section) for one in known] == [("other", 3, cheap)]
        recruits.close()


def test_models_that_were_called_for_other_settings_are_called_anew(models: Workbench) -> None:
    """Where another request was done meanwhile, more may be new than was."""
    with models.create(**ONE) as campaign:
        old = campaign.settings.models
        (fast,) = old.members
        moved = old.model_copy(update={"members": (fast.model_copy(update={"settings": {"model": "y"}}),)})
        wanted = old.model_copy(update={"members": (fast, OTHER)})
        new = campaign.settings.model_copy(update={"models": wanted})
        Checked.go.clear()
        recruits = Recruits(models.plugins, waits=False)
        assert recruits.ready("1", old, new) is None
        Checked.go.set()
        while (found := recruits.ready("1", moved, new)) is None:
            time.sleep(0.01)
        assert [member.name for member in found] == ["fast", "other"]
        recruits.close()
        assert [model.closed for model in Checked.made] == [True] * len(Checked.made)


def test_what_must_be_made_is_what_has_other_settings(models: Workbench) -> None:
    """Another name, kind or address; no other price."""
    with models.create(**ONE) as campaign:
        old = campaign.settings.models
    priced = old.members[0].model_copy(update={"prompt_price": 2.0})
    moved = old.members[0].model_copy(update={"settings": {"model": "y"}})
    assert missing(old, old.model_copy(update={"members": (priced,)})) == ()
    assert missing(old, old.model_copy(update={"members": (moved,)})) == (moved,)
