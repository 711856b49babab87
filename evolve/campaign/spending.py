"""Prices of a campaign's models, checks of its budget against them, and the cost of a proposal before anything is asked.

A budget that nothing spends, and one in money where a model has no price, are errors before anything is made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evolve.config import ModelSection
from evolve.models.prices import Cost, ModelRates, Prices
from evolve.stop import Budget
from evolve.types import Progress, Prompt, Usage


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
    # A budget says whether it pays for something, and not how often: parts of it may count different resources.
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
