"""Where the threads of a run are while it runs, and afterwards."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from loop_fakes import JUDGES, FakeExecutor, Seen, Workbench
from model_fakes import FakeModel, Writes, members, with_operators

from evolve import cores, plugins
from evolve.campaign import Campaign
from evolve.cores import current
from evolve.hookspecs import OperatorEntry, hookimpl
from evolve.loop import run
from evolve.loop.workshop import Workshop
from evolve.plugins import BUNDLED, Registered
from evolve.protocols import Context
from evolve.types import Child, Needs, Selection, Settled, Stage

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2 or current() is None,
    reason="there is one core, no choice of it, or nobody who tells which it is",
)
MODEL = {"models": {"members": [{"name": "fast", "kind": "fake"}]}, "operators": {"names": ["writes"]}}


def places() -> int:
    """How many cores the calling thread may run on."""
    return len(os.sched_getaffinity(0))


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A core is chosen once, however long a run takes; whatever it leaves, this thread runs anywhere afterwards."""
    monkeypatch.setattr(cores, "_SECONDS", 1e9)
    before = os.sched_getaffinity(0)
    yield
    vars(cores._mine).clear()
    os.sched_setaffinity(0, before)


class Looks(Seen):
    """Notes where the main thread may run after each turn."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[int] = []

    def turned(self, campaign: Campaign) -> None:
        super().turned(campaign)
        self.places.append(places())


class Breaks(Looks):
    """Fails at the first record."""

    def settled(self, campaign: Campaign, event: Settled) -> None:
        assert places() == 1
        raise RuntimeError("nothing is shown")


class Looking(Writes):
    """An operator that notes where it may run."""

    places: list[int]

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        self.places.append(places())
        return super().propose(selection, context)


class Model(FakeModel):
    """A model that notes where it may run."""

    places: list[int]

    def complete(self, *words, **named):
        self.places.append(places())
        return super().complete(*words, **named)


class Polite(Model):
    gives_way = True


def looked(campaign: Campaign, *models: FakeModel) -> Looks:
    watch = Looks()
    run(campaign, FakeExecutor(), JUDGES, watch, members(campaign, *models))
    return watch


def fails(*_: object) -> None:
    """In the place of what ends a run."""
    raise RuntimeError("it does not end")


def test_the_main_thread_keeps_to_one_core_and_leaves_it(bench: Workbench) -> None:
    with bench.create() as campaign:
        assert set(looked(campaign).places) == {1}
    assert places() > 1


def test_a_run_that_fails_leaves_it_too(bench: Workbench) -> None:
    with bench.create() as campaign, pytest.raises(RuntimeError, match="nothing is shown"):
        run(campaign, FakeExecutor(), JUDGES, Breaks())
    assert places() > 1


@pytest.mark.parametrize("part", ["_keep_answers", "_proposals.close", "_desk.close"])
def test_one_whose_end_fails_leaves_it_and_the_rest_ends(
    bench: Workbench, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at a second Ctrl-C, or on a full disk."""
    shops: list[Workshop] = []

    def entered(self: Workshop, before: Callable[[Workshop], Workshop] = Workshop.__enter__) -> Workshop:
        shops.append(self)
        owner, _, name = part.rpartition(".")
        monkeypatch.setattr(getattr(self, owner) if owner else self, name, fails)
        return before(self)

    monkeypatch.setattr(Workshop, "__enter__", entered)
    with bench.create() as campaign, pytest.raises(RuntimeError, match="does not end"):
        looked(campaign)
    assert places() > 1
    monkeypatch.undo()
    shops[0]._proposals.close()


def test_a_stage_with_cores_of_its_own_need_not_share_them_with_the_engine(bench: Workbench) -> None:
    bench.task = replace(bench.task, stages=(Stage("evaluate", needs=Needs(pinned=True)),))
    with bench.create() as campaign:
        assert set(looked(campaign).places) == {places()}


@pytest.mark.parametrize("plugin", ["somebodys", BUNDLED[0]])
@pytest.mark.parametrize("kind", [Model, Polite])
def test_code_of_others_may_have_all_cores(bench: Workbench, plugin: str, kind: type[Model]) -> None:
    """An operator that a package brings frees all threads; a model that does not say that it gives way, its own call."""
    with_operators(bench)
    Looking.places = []
    registered = Registered(plugin, OperatorEntry("writes", Looking, needs_model=True))
    bench.plugins = replace(bench.plugins, operators={**bench.plugins.operators, "writes": registered})
    with bench.create(**MODEL, budget=["6programs"]) as campaign:
        model = kind()
        model.places = []
        watch = looked(campaign, model)
    own = plugin in BUNDLED
    assert set(watch.places) == set(Looking.places) == {1 if own else places()}
    assert set(model.places) == {1 if own and kind is Polite else places()}


def test_what_packages_bring_to_prompts_and_screening_runs_in_the_engine_too() -> None:
    """A plugin whose strategies and operators are not used, and that has no such hook, does not."""
    loaded = plugins.load(())
    assert loaded.third_parties("islands", ["diff", "tune_literals"]) == ()

    class Brings:
        @hookimpl
        def screen_program(self, task: object, program: object, parents: object) -> None:
            return None

    loaded.manager.register(Brings(), "somebodys")
    assert loaded.third_parties("islands", ["diff"]) == ("somebodys",)
