"""Settings of a campaign: what fits, and what may change later."""

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.campaign.settings import (
    BETWEEN_RUNS,
    WHILE_RUNNING,
    check_priced,
    check_spendable,
    keys,
    retune,
    try_settings,
    when,
)
from evolve.campaign.spending import prices_of
from evolve.config import ModelSection, Settings, settings_from
from evolve.hookspecs import ModelEntry
from evolve.models.prices import ModelRates
from evolve.stop import Budget, any_of, parse
from evolve.types import Call, ConfigError, Progress, Task
from tests.written import Written

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


def test_purposes_are_the_engines_and_those_of_the_campaigns_operators(circle_task: Task) -> None:
    """A misspelt one would be a model that nobody ever asks."""
    models = {**PAIR, "purposes": {"plan": "wise"}}
    tried(circle_task, models=models, strategy={"name": "plan"})
    with pytest.raises(
        ConfigError,
        match=r"no model is asked for 'plan' in this campaign\..* Try: models.purposes takes embed, novelty",
    ):
        tried(circle_task, models=models)
    with pytest.raises(ConfigError, match=r"no model is asked for 'reflct' in this campaign\. Did you mean 'reflect'"):
        tried(circle_task, models={**PAIR, "purposes": {"reflct": "wise"}})


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
        (
            {"strategy": {"name": "random"}, "operators": {"names": ["mutate_ast"]}},
            "'fast' would never be called: no operator .* strategy 'random'",
        ),
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


LOADED = plugins.load()
FAST = {"name": "gpt-4.1", "settings": {"model": "gpt-4.1"}}


def settings(**values: object) -> Settings:
    return settings_from({"task": "one_number", "budget": ["30programs"], "workers": 2, **values})


def changed(task: Task, *assignments: str, running: bool = True, **values: object) -> dict[str, object]:
    return retune("mine", settings(**values), assignments, task, LOADED, running=running)


@pytest.mark.parametrize(
    ("assignment", "key", "value"),
    [
        ("budget=['1h', '500programs']", "budget", ["1h", "500programs"]),
        ("workers=8", "workers", 8),
        ("confirm.share=0.5", "confirm", {"share": 0.5, "z": 2.0, "sigmas": 5.0, "seeds": 5}),
        ("outage.then=stop", None, None),
    ],
)
def test_a_change_is_what_differs_by_top_level_key(circle_task, assignment, key, value):
    """Nothing where nothing does."""
    assert changed(circle_task, assignment, running=False) == ({} if key is None else {key: value})


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("seed=4", "'seed' cannot change in a campaign that has begun. Try: evolve campaign fork mine"),
        ("archive.islands=2", "'archive.islands' cannot change in a campaign that has begun. Try: evolve campaign fork mine"),
        ("task.n=32", "'parameters' cannot change in a campaign that has begun. Try: run a new campaign"),
        ("strategy.name=random", "Try: evolve campaign fork mine --set strategy.name=VALUE"),
        ("operators.settings.tune_literals.sigma=2", "Try: evolve campaign fork mine --set operators.settings=VALUE"),
        ("sandbox=none", "read when a run begins, so that it cannot change meanwhile. Try: evolve campaign stop mine"),
        ("wrkers=3", "unknown setting 'wrkers'. Did you mean 'workers'?"),
        ("workers=0", "setting 'workers' is at least 1, got 0"),
        ("models.members=[{name='a'}]", "read when a run begins, so that it cannot change meanwhile"),
        ("budget=['until=never']", "never"),
        ("budget=['5tokens']", "no operator of this campaign spends tokens"),
    ],
)  # fmt: skip
def test_what_cannot_change_is_refused_with_what_to_do(circle_task, assignment, message):
    """In one line."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, assignment)
    assert message in str(error.value)
    assert "Try: " in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["models.members=5"], "setting 'models.members' is a list"),
        (["models.members=[1]"], "setting 'models.members.0'"),
        (["models.members=[{kind='openai'}]"], "members.0.name': Field required"),
        (["budget=" + "[" * 10_000], "a budget cannot be used"),
        (["outage.wait_seconds=inf"], "finite number"),
        (["outage.model_wait_seconds=inf"], "finite number"),
    ],
)
def test_what_is_no_setting_is_an_error_of_the_one_who_wrote_it(circle_task, assignments, message):
    """Never one of the engine that is asked, which would end with it."""
    with pytest.raises(ConfigError) as error:
        changed(circle_task, *assignments, models={"members": [FAST]}, running=False)
    assert message in str(error.value)


def test_between_runs_more_may_change(circle_task):
    """What a run reads when it begins."""
    assert changed(circle_task, "sandbox=none", running=False) == {"sandbox": "none"}


def test_a_campaign_that_began_without_models_gets_none(circle_task):
    """Its operators were chosen without them."""
    with pytest.raises(ConfigError, match="began without a model, and keeps its operators"):
        changed(circle_task, "models.members=[{name='a'}]", running=False)


def test_a_deterministic_campaign_gets_no_budget_in_time(circle_task):
    """As it cannot begin with one."""
    with pytest.raises(ConfigError, match="--deterministic cannot end by the clock"):
        changed(circle_task, "budget=['5s']", deterministic=True)


def test_every_setting_says_whether_it_may_change():
    found = {one.key: one.when for one in keys(settings())}
    assert (found["budget"], found["sandbox"], found["seed"]) == ("any time", "between runs", "")
    assert {key for key, when in found.items() if when} == WHILE_RUNNING | BETWEEN_RUNS


def test_nothing_that_the_fold_depends_on_may_change():
    """Rules of the archive, seeds, strategy: a log replays by the settings that it has at its end."""
    sections = ("archive", "strategy", "seed", "carry", "parameters", "task")
    fixed = [one.key for one in keys(settings()) if one.key.startswith(sections)]
    rules = ["confirm.z", "confirm.sigmas", "confirm.seeds", "operators.names"]
    assert [key for key in [*fixed, *rules] if when(key)] == []


def budget(*texts: str) -> Budget:
    """The first one that is spent ends it."""
    return any_of(parse(text, 0.0) for text in texts)


def member(**fields: object) -> ModelSection:
    """A model that somebody charges for, unless `kind` says otherwise."""
    return ModelSection(**{"name": "small", "kind": "charged", **fields})


def kinds(name: str) -> ModelEntry:
    """Two kinds of models."""

    def never(_: object) -> None:
        raise AssertionError("no model is made to look at prices")

    return {"charged": ModelEntry("charged", never, priced=True), "free": ModelEntry("free", never)}[name]


@pytest.mark.parametrize(
    ("fields", "rates"),
    [
        ({}, ModelRates(concurrency=8)),
        ({"prompt_price": 2, "completion_price": 8}, ModelRates(2, 2, 8, concurrency=8)),
        ({"prompt_price": 2, "cached_price": 0.5}, ModelRates(2, 0.5, 0, concurrency=8)),
        ({"gpus": 4, "gpu_hour_price": 2.5, "concurrency": 64}, ModelRates(gpus=4, gpu_hour=2.5, concurrency=64)),
    ],
)
def test_prices_are_those_of_the_settings(fields: dict[str, object], rates: ModelRates) -> None:
    """A cached token costs as much as another where nobody says less."""
    assert prices_of(member(**fields)).rates == rates


@pytest.mark.parametrize(
    ("limits", "members"),
    [
        (budget(), ()),
        (budget("5programs"), ()),
        (budget("5usd", "5programs"), ()),
        (budget("5tokens"), (member(),)),
        (budget("5calls"), (member(kind="free"),)),
        (budget("5usd"), (member(prompt_price=1),)),
        (budget("5usd"), (member(gpus=1, gpu_hour_price=2),)),
        (budget("5gpuh"), (member(), member(name="own", gpus=1))),
        (budget("5gpuh", "5tokens"), (member(),)),
    ],
)
def test_a_budget_that_something_spends_is_good(limits: Budget, members: tuple[ModelSection, ...]) -> None:
    """Or that stands beside one."""
    check_spendable(limits, members)


@pytest.mark.parametrize(
    ("limits", "members", "words"),
    [
        (
            budget("5usd"),
            (),
            "no operator of this campaign spends money, got 5usd. Try: give a budget in time or programs",
        ),
        (budget("5calls", "5tokens"), (), "no operator of this campaign spends calls or tokens, got 5calls | 5tokens"),
        (
            budget("5gpuh"),
            (member(prompt_price=1),),
            "no model of this campaign spends GPU hours, got 5gpuh. Try: give",
        ),
        (budget("5usd"), (member(kind="free"),), "no model of this campaign spends money, got 5usd. Try: give"),
        (budget("5usd"), (member(gpus=2),), "no model of this campaign spends money"),
    ],
)
def test_a_budget_that_nothing_spends_is_an_error(
    limits: Budget, members: tuple[ModelSection, ...], words: str
) -> None:
    """It would never end the campaign."""
    with pytest.raises(ConfigError) as caught:
        check_spendable(limits, members)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("limits", "members"),
    [
        (budget("5tokens"), (member(),)),
        (budget("5usd"), ()),
        (budget("5usd"), (member(prompt_price=1, completion_price=0),)),
        (budget("5usd"), (member(gpus=1, gpu_hour_price=0),)),
        (budget("5usd"), (member(kind="free"),)),
    ],
)
def test_a_budget_in_money_wants_prices_where_somebody_charges(
    limits: Budget, members: tuple[ModelSection, ...]
) -> None:
    """And no other budget does."""
    check_priced(limits, members, kinds)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {},
            "model 'small' has no prompt_price and no completion_price. Try: set prompt_price and completion_price in",
        ),
        ({"prompt_price": 1}, "model 'small' has no completion_price. Try: set completion_price in its table"),
        ({"completion_price": 1}, "model 'small' has no prompt_price."),
        ({"gpus": 2}, "for a server of your own, gpus and gpu_hour_price"),
    ],
)
def test_a_model_without_its_price_is_an_error(fields: dict[str, object], words: str) -> None:
    """What, got, do this."""
    with pytest.raises(ConfigError) as caught:
        check_priced(budget("5usd", "60s"), (member(kind="free"), member(**fields)), kinds)
    assert words in str(caught.value)
    assert str(caught.value).startswith("the budget 5usd counts money")


def test_calls_are_spent_as_the_log_says(tmp_path) -> None:
    """Failed ones too, and a replay finds the same sums."""
    written = Written(tmp_path, budget=["9calls", "30programs"])
    written.seed()
    written.called(
        Call("small", prompt_tokens=100, completion_tokens=20, cached_tokens=60, cost=0.1, gpu_seconds=1.5),
        Call("small", purpose="repair", prompt_tokens=7, cost=0.2, error="refused"),
    )
    with written.campaign as campaign:
        live = campaign.state.progress
        path = campaign.log.path
    with Campaign.open(str(path), plugins.load(), tmp_path) as again:
        assert again.state.progress == live
        assert again.budget.used(live, None, 0.0) == 2 / 9
    assert (live.calls, live.tokens, live.money, live.gpu_seconds) == (2, 127, 0.1 + 0.2, 1.5)
    assert Progress().calls == 0
