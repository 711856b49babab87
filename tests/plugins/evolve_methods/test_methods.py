"""What all methods promise: the contract of a strategy, a kill at any step, a newer version of the task."""

import ast
from pathlib import Path

import pytest

import evolve_methods
from evolve import plugins
from evolve.hookspecs import StrategyEntry
from evolve.testing import Rehearsal, check_strategy
from evolve.types import ConfigError, Measure, Propose, RecordId, Selection, TaskChanged, Traits, Wait
from evolve_methods.choices import Proposer
from tests.plugins.evolve_methods.histories import MODEL_TRAITS, rehearse

STRATEGIES = {entry.name: entry for entry in evolve_methods.register_strategies()}
SETTINGS = {
    "hgm": {"candidates": 4},
    "puct": {"buffer": 4, "group": 2},
    "wide": {"database": 6, "archive": 3, "group": 2},
}
"""Few programs, so that some of them are no parents any more."""


def make(entry: StrategyEntry, operators=tuple(MODEL_TRAITS)):
    """The strategy with its settings checked, as the engine makes it."""
    return entry.factory(entry.settings(**SETTINGS.get(entry.name, {})).model_dump(), operators)


@pytest.fixture(params=sorted(STRATEGIES))
def entry(request: pytest.FixtureRequest) -> StrategyEntry:
    return STRATEGIES[request.param]


def test_each_method_is_registered_with_operators_that_there_are() -> None:
    found = plugins.load()
    assert {"hgm", "puct", "shinka"} <= set(found.strategies)
    assert all(found.companions(name) == entry.operators != () for name, entry in STRATEGIES.items())


def test_each_method_names_its_paper_and_is_short() -> None:
    for method in evolve_methods.METHODS:
        text = Path(method.__file__).read_text("utf-8")
        assert "https://arxiv.org/abs/" in (method.__doc__ or "")
        body = [node for node in ast.parse(text).body if not isinstance(node, ast.Import | ast.ImportFrom)]
        statements = {inner.lineno for node in body for inner in ast.walk(node) if hasattr(inner, "lineno")}
        assert len(statements) <= 250


def test_a_method_keeps_the_promises_of_a_strategy(entry: StrategyEntry) -> None:
    """With any operators, and with its own."""
    check_strategy(lambda operators: make(entry, operators))
    traits = {**MODEL_TRAITS, "crossover": Traits(needs_model=True, parents=2)}
    check_strategy(lambda operators: make(entry, operators), operators=traits)


def test_a_campaign_that_is_killed_goes_on_as_if_it_had_not_been(entry: StrategyEntry) -> None:
    """Before, between and after a quarantine and a newer version of the task."""
    whole = rehearse(lambda: make(entry), 100)
    assert rehearse(lambda: make(entry), 100, kills=(3, 10, 49, 51, 74, 76, 90)).events == whole.events


def test_after_a_newer_version_of_the_task_parents_are_what_it_has_evaluated(entry: StrategyEntry) -> None:
    campaign = rehearse(lambda: make(entry), 100)
    place = next(place for place, event in enumerate(campaign.events) if isinstance(event, TaskChanged))
    actions = [event.action for event in campaign.events[place:] if hasattr(event, "action")]
    named = [record for action in actions if isinstance(action, Propose) for record in action.selection.parents]
    assert named
    assert all(campaign.history.is_current(record) for record in named)


def test_operators_are_drawn_in_their_shares_and_get_the_parents_that_they_want() -> None:
    campaign, proposer = Rehearsal(), Proposer(("diff", "crossover"), 1, 3, {"diff": 0.75, "crossover": 0.25})
    campaign.operators = proposer.operators
    campaign.needs["crossover"] = Traits(parents=2)
    campaign.open()
    for _ in range(12):
        action = proposer.propose(campaign, 1, 0, campaign.rng(len(campaign.history), 9))
        assert isinstance(action, Propose)
        assert action.selection.samples == 3
        campaign.start(action)
        campaign.finish()
    drawn = [proposer.propose(campaign, 1, 0, campaign.rng(step)).selection for step in range(2000)]
    parents: dict[str, set[int]] = {}
    for selection in drawn:
        parents.setdefault(selection.operator, set()).add(len(selection.parents))
        programs = [campaign.history.program_id(one) for one in (*selection.parents, *selection.inspirations)]
        assert len(set(programs)) == len(programs)
    assert parents == {"diff": {1}, "crossover": {2}}
    assert sum(selection.operator == "diff" for selection in drawn) == pytest.approx(1500, abs=60)


def test_an_operator_that_finds_no_partner_yet_is_waited_for_while_something_is_under_way() -> None:
    campaign, proposer = Rehearsal(), Proposer(("crossover",), 0)
    campaign.operators = proposer.operators
    campaign.needs["crossover"] = Traits(parents=2)
    campaign.open()
    with pytest.raises(
        ConfigError, match=r"no operator makes a program of one program: got crossover. Try: name one more"
    ):
        proposer.propose(campaign, 1, 0, campaign.rng(1))
    campaign.start(Measure(RecordId(1), campaign.task.seed.id))
    assert proposer.propose(campaign, 1, 0, campaign.rng(1)) == Wait()


def test_steps_of_the_engine_are_none_of_the_strategy() -> None:
    """It asks for lessons about the best program."""
    proposer, chosen = Proposer(("diff",), 0), Selection("diff", parents=(1,))
    assert proposer.find_selection(Propose(chosen)) == chosen
    assert proposer.find_selection(Propose(Selection("reflect", parents=(1,)))) is None
    assert proposer.find_selection(Measure(RecordId(1), Rehearsal().task.seed.id)) is None
