"""What the models of a campaign cost, and whether its budget fits them.

Invariant: a budget that nothing spends, and one in money where a model has no price, are errors before anything is made."""

import math
import sys
from collections.abc import Callable, Sequence, Set

from evolve.config import ModelSection
from evolve.hookspecs import ModelEntry
from evolve.models.prices import ModelRates, Prices
from evolve.stop import Amount, Budget, Resource
from evolve.types import ConfigError, Progress


def prices_of(member: ModelSection) -> Prices:
    """The prices of a model by its settings: a cached token costs as much as another where nobody says less, and what has no price is
    free."""
    prompt = member.prompt_price or 0.0
    return Prices(
        ModelRates(
            prompt=prompt,
            cached=prompt if member.cached_price is None else member.cached_price,
            completion=member.completion_price or 0.0,
            gpus=member.gpus,
            gpu_hour=member.gpu_hour_price or 0.0,
            concurrency=member.concurrency,
        )
    )


def check_spendable(budget: Budget, members: Sequence[ModelSection] = ()) -> None:
    """Raises `ConfigError` for a budget that would never end a campaign with these models, because nothing spends what it counts."""
    what = spent_by_models_alone(budget, _spent_by(members))
    if not what:
        return
    if not members:
        raise ConfigError(
            f"no operator of this campaign spends {what}, got {budget}. Do: give a budget in time or programs"
        )
    raise ConfigError(
        f"no model of this campaign spends {what}, got {budget}. Do: give a budget in tokens, calls, time or programs; or set what a "
        "model costs, prompt_price and completion_price, or gpus and gpu_hour_price"
    )


def spent_by_models_alone(budget: Budget, spent: Set[Resource] = frozenset()) -> str:
    """What would have to be spent so that the budget ends a campaign, in words, where models alone spend that, and not these resources; empty
    where something else may end it."""
    leaves = budget.leaves()
    never = [
        leaf.kind.noun
        for leaf in leaves
        if isinstance(leaf, Amount) and leaf.kind.by_models and leaf.unit.resource not in spent
    ]
    return " or ".join(dict.fromkeys(never)) if len(never) == len(leaves) else ""


def ended_by_calls(budget: Budget, members: Sequence[ModelSection]) -> bool:
    """Calls of these models end it, and the time that they take, even where nothing comes of them."""
    spent = dict.fromkeys(_spent_by(members), sys.maxsize)
    return budget.spent(Progress(seconds=math.inf, **spent), None, math.inf)


def _spent_by(members: Sequence[ModelSection]) -> set[Resource]:
    spent: set[Resource] = {"tokens", "calls"} if members else set()
    if any(member.gpus for member in members):
        spent.add("gpu_seconds")
    if any(_costs_money(member) for member in members):
        spent.add("money")
    return spent


def _costs_money(member: ModelSection) -> bool:
    rates = prices_of(member).rates
    return bool(rates.prompt or rates.cached or rates.completion or (rates.gpus and rates.gpu_hour))


def check_priced(budget: Budget, members: Sequence[ModelSection], kinds: Callable[[str], ModelEntry]) -> None:
    """Raises `ConfigError` for a budget in money where somebody charges for a model whose price is not known. `kinds` gives what is
    registered by its name."""
    money = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount) and leaf.unit.resource == "money"]
    if not money:
        return
    unpriced = [member for member in members if kinds(member.kind).priced and not _is_priced(member)]
    if not unpriced:
        return
    member = unpriced[0]
    missing = [
        key
        for key, price in (("prompt_price", member.prompt_price), ("completion_price", member.completion_price))
        if price is None
    ]
    raise ConfigError(
        f"the budget {money[0]} counts money, and model {member.name!r} has no {' and no '.join(missing)}. Do: set "
        f"{' and '.join(missing)} in its table of models.members, in US dollars per million tokens (0 where it is free); for a server of "
        "your own, gpus and gpu_hour_price; or give a budget in tokens"
    )


def _is_priced(member: ModelSection) -> bool:
    by_token = member.prompt_price is not None and member.completion_price is not None
    return by_token or (member.gpus > 0 and member.gpu_hour_price is not None)
