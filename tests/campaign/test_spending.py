"""Prices of models, and budgets that fit them."""

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.campaign.settings import check_priced, check_spendable
from evolve.campaign.spending import prices_of
from evolve.config import ModelSection
from evolve.hookspecs import ModelEntry
from evolve.models.prices import ModelRates
from evolve.stop import Budget, any_of, parse
from evolve.types import Call, ConfigError, Progress
from tests.written import Written


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
