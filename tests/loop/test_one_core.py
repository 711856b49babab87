"""Where the threads of a run are while it runs, and afterwards."""

import os
from collections.abc import Sequence
from dataclasses import replace

import pytest
from loop_fakes import JUDGES, FakeExecutor, Seen, Workbench
from model_fakes import FakeModel, Writes, members, with_operators

from evolve import plugins
from evolve.hookspecs import OperatorEntry
from evolve.judge import Job, Report
from evolve.loop import run
from evolve.plugins import BUNDLED, Registered
from evolve.protocols import Context
from evolve.types import Child, Needs, Selection, Stage, TaskError

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="there is one core, or no choice of it",
)
MODEL = {"models": {"members": [{"name": "fast", "kind": "fake"}]}, "operators": {"names": ["writes"]}}


def places() -> int:
    """How many cores the calling thread may run on."""
    return len(os.sched_getaffinity(0))


class Looks(Seen):
    """Notes where the main thread may run after each turn."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[int] = []

    def turned(self, campaign) -> None:
        super().turned(campaign)
        self.places.append(places())


class Looking(Writes):
    """An operator that notes where it may run."""

    places: list[int]

    def propose(self, selection: Selection, context: Context) -> Sequence[Child]:
        self.places.append(places())
        return super().propose(selection, context)


class Model(FakeModel):
    """A model that notes where it may run."""

    def complete(self, *words, **named):
        self.places.append(places())
        return super().complete(*words, **named)


class Polite(Model):
    gives_way = True


def looked(campaign, *models: FakeModel) -> Looks:
    watch = Looks()
    run(campaign, FakeExecutor(), JUDGES, watch, members(campaign, *models))
    return watch


def test_the_main_thread_keeps_to_one_core_and_leaves_it(bench: Workbench) -> None:
    with bench.create() as campaign:
        assert set(looked(campaign).places) == {1}
    assert places() > 1


def test_a_run_that_fails_leaves_it_too(bench: Workbench) -> None:
    def breaks(job: Job) -> Report:
        raise TaskError("no judge")

    with bench.create() as campaign, pytest.raises(TaskError, match="no judge"):
        run(campaign, FakeExecutor(breaks), JUDGES, Seen())
    assert places() > 1


def test_a_stage_with_cores_of_its_own_need_not_share_them_with_the_engine(bench: Workbench) -> None:
    bench.task = replace(bench.task, stages=(Stage("evaluate", needs=Needs(pinned=True)),))
    with bench.create() as campaign:
        assert 1 not in looked(campaign).places


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
    kept = plugin in BUNDLED
    assert set(watch.places) == {1} if kept else 1 not in watch.places
    assert set(Looking.places) == {1} if kept else 1 not in Looking.places
    assert set(model.places) == {1} if kept and kind is Polite else 1 not in model.places


def test_what_packages_bring_to_prompts_and_screening_runs_in_the_engine_too() -> None:
    """A plugin whose strategies and operators are not used, and that has no such hook, does not."""
    loaded = plugins.load(())
    assert loaded.third_parties("islands", ["diff", "tune_literals"]) == ()

    class Brings:
        @plugins.hookspecs.hookimpl
        def screen_program(self, task, program, parents):
            return None

    loaded.manager.register(Brings(), "somebodys")
    assert loaded.third_parties("islands", ["diff"]) == ("somebodys",)
