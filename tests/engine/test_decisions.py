"""Comparison of decisions: a strategy that decides as it did is equal in every step, and one with another law is named at its first step."""

import dataclasses
from collections.abc import Callable
from functools import partial

import pytest
from loop_fakes import FakeExecutor, Seen, Workbench
from model_fakes import FakeModel, members, with_operators

from evolve.campaign import Campaign
from evolve.campaign.fork import fork, settings_of_fork
from evolve.engine import run
from evolve.engine.decisions import BEFORE_FORK, BY_CLOCK, BY_ENGINE, DecisionComparison, Decisions
from evolve.hookspecs import StrategyEntry
from evolve.plugins import Registered
from evolve.protocols import View
from evolve.types import Asked, ConfigError, Event, Measure, ModelGone, Propose, Selection

LAW = {"strategy": {"name": "law"}}


@dataclasses.dataclass
class Law:
    """A third party's strategy: `select` chooses a parent among so many records, or the whole action."""

    ask: Callable[..., Propose | Measure]

    def tell(self, event: Event) -> None:
        """What it decides follows from the view."""


def of_parent(
    choose: Callable[..., int], operator: str = "perturb_literals", model: str = ""
) -> Callable[..., Propose]:
    """A law that changes the record which `choose(view, rng)` gives."""
    return lambda view, rng: Propose(Selection(operator, parents=(choose(view, rng),), model=model))


def usable(view: View) -> list[int]:
    """The records that may be a parent."""
    return [record for record in range(1, len(view.history) + 1) if view.history.program_id(record)]


any_record = of_parent(lambda view, rng: int(rng.choice(usable(view))))
last_record = of_parent(lambda view, rng: usable(view)[-1])


def install(bench: Workbench, ask: Callable[..., Propose | Measure]) -> None:
    """Brings the strategy `law`, in the place of another version of it."""
    entry = StrategyEntry("law", lambda settings, operators: Law(ask))
    bench.plugins = dataclasses.replace(
        bench.plugins, strategies={**bench.plugins.strategies, "law": Registered("other", entry)}
    )


def compare(bench: Workbench, name: str | None = None) -> Decisions:
    """What a replay of a campaign finds, whose archive is equal in any case."""
    comparison = DecisionComparison()
    with Campaign.open(name, bench.plugins, bench.home, before=comparison) as campaign:
        assert campaign.state.difference is None
    return comparison.decisions


def asked(campaign: Campaign, kind: type[Propose] | type[Measure]) -> list[Asked]:
    """The steps of one kind."""
    events = [found.event for found in campaign.log.events(only=Asked)]
    return [event for event in events if isinstance(event, Asked) and isinstance(event.action, kind)]


def test_every_decision_of_a_deterministic_campaign_is_equal(bench: Workbench) -> None:
    """Also over several runs."""
    with bench.create(deterministic=True) as campaign:
        bench.run(campaign)
        campaign.change({"budget": ["50programs"]})
    with bench.open() as campaign:
        bench.run(campaign)
        proposals = len(asked(campaign, Propose))
    assert compare(bench) == Decisions(compared=proposals)


def test_another_law_is_named_at_its_first_step_where_a_replay_is_equal(bench: Workbench) -> None:
    """And the steps that differ are counted."""
    install(bench, any_record)
    with bench.create(**LAW) as campaign:
        bench.run(campaign)
        steps, programs = asked(campaign, Propose), campaign.state.columns.programs
    assert compare(bench) == Decisions(compared=len(steps))
    install(bench, last_record)
    found = compare(bench)
    last = [max(record for record in range(1, step.after + 1) if programs[record - 1]) for step in steps]
    wrong = [place for place, step in enumerate(steps) if step.action.selection.parents != (last[place],)]
    assert (found.compared, found.different) == (len(steps), len(wrong))
    step, line = steps[wrong[0]], '"selection":{{"operator":"perturb_literals","parents":[{}]}},"type":"Propose"'
    stored, decided = line.format(*step.action.selection.parents), line.format(last[wrong[0]])
    assert f"step {step.step}: the log has {{{stored}}}, the strategy now asks {{{decided}}}" == str(found.first)


def test_what_the_engine_asks_for_is_counted_apart(bench: Workbench, circle_task) -> None:
    """A strategy's own measurements are compared."""
    own = "to be sure"

    def ask(view, rng, law=any_record):
        return law(view, rng) if rng.random() < 0.7 else Measure(1, view.task.seed.id, why=own)

    install(bench, ask)
    with bench.create(**LAW, task=dataclasses.replace(circle_task, deterministic=False)) as campaign:
        bench.run(campaign)
        measures = [step.action.why == own for step in asked(campaign, Measure)]
        proposals = len(asked(campaign, Propose))
    found = compare(bench)
    assert (found.compared, found.different) == (proposals + sum(measures), 0)
    assert found.left_out == {BY_ENGINE: len(measures) - sum(measures)}
    install(bench, partial(ask, law=last_record))
    assert compare(bench).different > 0


@pytest.mark.parametrize("unit", ["programs", "m"])
def test_a_decision_by_the_spent_budget_is_compared_under_the_budget_of_its_time(bench: Workbench, unit: str) -> None:
    """The share of a budget in time is known as exactly as the log is stamped. Two runs that end by an error."""
    install(bench, of_parent(lambda view, rng: usable(view)[int(view.budget_used * 1e4) % len(usable(view))]))
    with bench.create(**LAW, budget=[f"60{unit}"]) as campaign:
        with pytest.raises(ConfigError):
            bench.run(campaign, watch=EndsAt(20))
        campaign.change({"budget": [f"90{unit}"]})
    with bench.open() as campaign, pytest.raises(ConfigError):
        bench.run(campaign, watch=EndsAt(40))
    found = compare(bench)
    assert (found.compared >= 40, found.different, found.left_out) == (True, 0, {}), found.first


class EndsAt(Seen):
    """A watch that ends the run by an error at so many programs."""

    def __init__(self, programs: int) -> None:
        super().__init__()
        self.programs = programs

    def turned(self, campaign: Campaign) -> None:
        if campaign.state.progress.programs >= self.programs:
            raise ConfigError("enough")


def test_what_hangs_on_the_instant_cannot_be_compared(bench: Workbench) -> None:
    """A law by the last digits of the clock."""
    install(bench, of_parent(lambda view, rng: usable(view)[hash(view.budget_used) % len(usable(view))]))
    with bench.create(**LAW, budget=["1h"]) as campaign, pytest.raises(ConfigError):
        bench.run(campaign, watch=EndsAt(20))
    assert compare(bench).left_out[BY_CLOCK] > 0


def test_what_was_decided_before_a_fork_is_left_out(bench: Workbench) -> None:
    """Another strategy decided it, and the fork's own decisions are equal."""
    with bench.create() as campaign:
        bench.run(campaign)
    with bench.open(readonly=True) as campaign:
        install(bench, any_record)
        campaign.plugins = bench.plugins
        more = ["budget=40programs", "strategy.name=law", 'operators.names=["perturb_literals"]']
        fork(campaign, settings_of_fork(campaign, {}, more), bench.home, "other")
        before = len(asked(campaign, Propose))
    with bench.open("other") as campaign:
        bench.run(campaign)
        own = len(asked(campaign, Propose)) - before
    found = compare(bench, "other")
    assert (own, found) == (10, Decisions(compared=own, left_out={BEFORE_FORK: before}))


FAKES = {"models": {"members": [{"name": "fast", "kind": "fake"}, {"name": "slow", "kind": "fake"}]}}


@pytest.mark.parametrize("model", [None, lambda view: view.models[0]], ids=["drawn", "named"])
def test_models_that_were_busy_or_have_given_up_are_supposed(bench: Workbench, model: Callable | None) -> None:
    """The log says neither; a model that the engine has drawn is not compared."""
    with_operators(bench)

    def ask(view, rng, law=any_record):
        wanted = "writes" if "writes" in view.operators else view.operators[0]
        selection = dataclasses.replace(law(view, rng).selection, operator=wanted)
        named = model(view) if model and wanted == "writes" else ""
        return Propose(dataclasses.replace(selection, model=named))

    install(bench, ask)
    names = {"names": ["writes", "perturb_literals"]}
    with bench.create(**LAW, **FAKES, budget=["90calls"], operators=names) as campaign:
        gone = FakeModel(lambda number: ModelGone("gone"))
        run(campaign, FakeExecutor(), Seen(), members(campaign, gone, FakeModel()))
        steps = len(asked(campaign, Propose))
    found = compare(bench)
    assert (found.compared, found.different) == (steps, 0), found.first
    assert found.supposed > 0
    install(bench, partial(ask, law=last_record))
    assert compare(bench).different > 0


def test_a_strategy_that_is_not_installed_cannot_be_asked(bench: Workbench) -> None:
    """Where a replay needs none."""
    installed = bench.plugins
    install(bench, any_record)
    with bench.create(**LAW) as campaign:
        bench.run(campaign)
    bench.plugins = installed
    bench.open(readonly=True).close()
    with pytest.raises(ConfigError, match=r"no strategy is called 'law'.*a package that is not installed"):
        compare(bench)
