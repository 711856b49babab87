"""Prices of a campaign's models, checks of its budget against them, and the cost of a proposal before anything is asked.

A budget that nothing spends, and one in money where a model has no price, are errors before anything is made."""

import math
import sys
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from evolve.config import ModelSection
from evolve.hookspecs import ModelEntry
from evolve.models.prices import Cost, ModelRates, Prices
from evolve.stop import Amount, Budget, Resource
from evolve.types import ConfigError, Progress, Prompt, Usage


def prices_of(member: ModelSection) -> Prices:
    """Returns the prices of a model by its settings: a cached token costs as much as another where nobody says less, and what has no price is
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
            f"no operator of this campaign spends {what}, got {budget}. Try: give a budget in time or programs"
        )
    raise ConfigError(
        f"no model of this campaign spends {what}, got {budget}. Try: give a budget in tokens, calls, time or programs; or set what a "
        "model costs, prompt_price and completion_price, or gpus and gpu_hour_price"
    )


def spent_by_models_alone(budget: Budget, spent: Set[Resource] = frozenset()) -> str:
    """Returns the resources that would have to be spent so that the budget ends a campaign, in words, where models alone spend them; empty
    where something else, or one of the resources `spent`, may end it."""
    leaves = budget.leaves()
    never = [
        leaf.kind.noun
        for leaf in leaves
        if isinstance(leaf, Amount) and leaf.kind.by_models and leaf.unit.resource not in spent
    ]
    return " or ".join(dict.fromkeys(never)) if len(never) == len(leaves) else ""


def calls_end_budget(budget: Budget, members: Sequence[ModelSection]) -> bool:
    """Returns whether calls of these models end it, and the time that they take, even where nothing comes of them."""
    # The budget is asked about a campaign that has called for ever.
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
        f"the budget {money[0]} counts money, and model {member.name!r} has no {' and no '.join(missing)}. Try: set "
        f"{' and '.join(missing)} in its table of models.members, in US dollars per million tokens (0 where it is free); for a server of "
        "your own, gpus and gpu_hour_price; or give a budget in tokens"
    )


def _is_priced(member: ModelSection) -> bool:
    by_token = member.prompt_price is not None and member.completion_price is not None
    return by_token or (member.gpus > 0 and member.gpu_hour_price is not None)


ANSWER_TOKENS = 1_000
"""Assumed tokens of an answer: an edit with a few words. A model that thinks first writes several times that."""
TOKENS_PER_SECOND = 50.0
"""Assumed speed of a model, for the seconds of one's own GPUs."""
_ENDLESS = 1 << 40


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """Cost of one call of a model, usually and at most, and how many proposals of one call each what is left of the budget pays for: about
    `proposals`, and `least` in the worst case; None where the budget does not end with them."""

    model: str
    usual: Cost
    most: Cost
    proposals: int | None
    least: int | None


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Cost by model, for a prompt of about `prompt_tokens`, and answers that are supposed to have `answer_tokens`."""

    prompt_tokens: int
    answer_tokens: int
    models: tuple[ModelEstimate, ...]


def estimate_costs(
    prompt: Prompt, members: Sequence[ModelSection], budget: Budget, progress: Progress | None = None
) -> CostEstimate:
    """Returns the costs of calls with such a prompt; `progress` is what was spent before."""
    tokens = prompt.estimated_tokens
    spent = progress or Progress()
    found = []
    for member in members:
        usual, most = _usual(member, tokens), _most(member, prompt)
        counts = _count(usual, budget, spent), _count(most, budget, spent)
        found.append(ModelEstimate(member.name, usual, most, *counts))
    return CostEstimate(tokens, ANSWER_TOKENS, tuple(found))


def _usual(member: ModelSection, prompt_tokens: int) -> Cost:
    answer = min(ANSWER_TOKENS, member.max_tokens)
    return prices_of(member).cost(Usage(prompt_tokens, answer), answer / TOKENS_PER_SECOND)


def _most(member: ModelSection, prompt: Prompt) -> Cost:
    return prices_of(member).worst(prompt.size, len(prompt.messages), member.max_tokens, member.timeout_seconds)


def _count(cost: Cost, budget: Budget, spent: Progress) -> int | None:
    """Returns how many proposals of this cost a budget pays for; by halving, since more proposals are never cheaper."""
    low, high = 0, _ENDLESS
    if _affords(high, cost, budget, spent):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _affords(middle, cost, budget, spent) else (low, middle)
    return low


def _affords(count: int, cost: Cost, budget: Budget, spent: Progress) -> bool:
    after = cost.times(count).after(spent)
    return budget.affords(replace(after, programs=spent.programs + count))
