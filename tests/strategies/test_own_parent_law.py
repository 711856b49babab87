"""A strategy with another parent law is one function: the example of the documentation."""

import re
from pathlib import Path
from typing import Any

from evolve.hookspecs import StrategyEntry
from evolve.testing import Rehearsal, check_strategy
from evolve.types import Propose

PAGE = Path(__file__).parents[2] / "docs" / "operators.md"


def load_entry() -> StrategyEntry:
    """Returns the entry that the example registers."""
    block = next(
        block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S) if "Islands(" in block
    )
    names: dict[str, Any] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    (entry,) = names["register_strategies"]()
    assert isinstance(entry, StrategyEntry)
    return entry


def test_the_example_keeps_the_promises_of_a_strategy() -> None:
    entry = load_entry()
    check_strategy(lambda operators: entry.factory({}, operators))


def test_its_parent_is_more_often_one_without_children(rehearsal: Rehearsal) -> None:
    strategy = load_entry().factory({}, ["first"])
    for step in range(40):
        action = strategy.ask(rehearsal, rehearsal.rng(step))
        assert isinstance(action, Propose)
        rehearsal.start(action)
        rehearsal.finish()
    asked = [strategy.ask(rehearsal, rehearsal.rng(step)) for step in range(300)]
    parents = [action.selection.parents[0] for action in asked if isinstance(action, Propose)]
    elites = rehearsal.archive.elites(0)
    children = {elite.record: len(rehearsal.history.children(elite.record)) for elite in elites}
    most, least = max(children, key=lambda one: children[one]), min(children, key=lambda one: children[one])
    assert children[most] > children[least]
    assert parents.count(least) > parents.count(most)
