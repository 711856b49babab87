"""Settings, a task and the loaded plugins must fit together before there is a log."""

import pytest

from evolve import plugins
from evolve.campaign.settings import try_settings
from evolve.config import settings_from
from evolve.types import ConfigError, Task

MODEL = {"members": [{"name": "fast", "kind": "mailbox", "settings": {"folder": "letters"}}]}

PAIR = {"members": [*MODEL["members"], {**MODEL["members"][0], "name": "wise"}], "purposes": {"reflect": "wise"}}


def tried(task: Task, **values: object) -> None:
    """Tries settings with one model."""
    try_settings(settings_from({"task": task.name, "models": MODEL, **values}), task, plugins.load())


@pytest.mark.parametrize(
    "values",
    [
        {"budget": ["5tokens"]},
        {"budget": ["5tokens", "5programs"], "operators": {"names": ["diff"]}},
        {"budget": ["5tokens", "5programs"], "outage": {"then": "offline"}},
        {"budget": ["5tokens", "fitness=2.6"], "outage": {"then": "offline"}},
        {"budget": [], "outage": {"then": "offline"}},
        {"budget": ["5tokens"], "operators": {"names": ["tune_literals"]}, "lessons": {"every": 5}},
    ],
)
def test_settings_that_fit(circle_task: Task, values: dict[str, object]) -> None:
    tried(circle_task, **values)


def test_a_budget_that_only_models_spend_wants_an_operator_that_calls_one(circle_task: Task) -> None:
    """It would never end the campaign."""
    with pytest.raises(ConfigError, match="no operator of this campaign spends tokens, got 5tokens"):
        tried(circle_task, budget=["5tokens"], operators={"names": ["tune_literals"]})


def test_a_campaign_that_may_go_on_offline_has_something_to_go_on_with(circle_task: Task) -> None:
    """Found before the models are lost."""
    with pytest.raises(
        ConfigError, match=r"'offline'.*every operator of this campaign needs a model: diff, fix\. Try: "
    ):
        tried(circle_task, outage={"then": "offline"}, operators={"names": ["diff", "fix"]})


def test_a_campaign_that_may_go_on_offline_has_a_budget_that_ends_it_then(circle_task: Task) -> None:
    """Without models nothing spends tokens."""
    with pytest.raises(ConfigError, match=r"'offline'.*without models nothing spends tokens or calls, got .*Try: "):
        tried(circle_task, outage={"then": "offline"}, budget=["5tokens", "5calls"])


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"strategy": {"name": "random"}}, "'fast' would never be called: no operator .* strategy 'random'"),
        ({"operators": {"names": ["tune_literals"]}}, "'fast' would never be called: no operator"),
    ],
)
def test_a_model_that_nobody_could_ever_call_is_an_error(
    circle_task: Task, values: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        tried(circle_task, **values)


@pytest.mark.parametrize(
    "values",
    [
        {"models": PAIR, "lessons": {"every": 5}},
        {"models": PAIR | {"purposes": {"embed": "wise"}}},
        {"strategy": {"name": "random"}, "lessons": {"every": 5}},
    ],
)
def test_a_model_that_somebody_may_call_is_none(circle_task: Task, values: dict[str, object]) -> None:
    tried(circle_task, **values)
