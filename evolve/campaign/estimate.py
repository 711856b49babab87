"""What a proposal by each model will cost, before anything is asked.

Invariant: pure; what is supposed and what is certain are told apart: `usual` rests on suppositions, `most` holds for one call of any server
that honours `max_tokens`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evolve.campaign.spending import prices_of
from evolve.config import ModelSection
from evolve.models.prices import Cost
from evolve.stop import Budget
from evolve.types import Progress, Prompt, Usage

ANSWER_TOKENS = 1_000
"""How long an answer is supposed to be: an edit with a few words. A model that thinks first writes several times that."""
TOKENS_PER_SECOND = 50.0
"""How fast a model is supposed to write, for the seconds of one's own GPUs."""
_ENDLESS = 1 << 40


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What one call of a model costs usually and at most, and how many proposals of one call each what is left of the budget pays for: about
    `proposals`, and `least` in the worst case; None where the budget does not end with them."""

    model: str
    usual: Cost
    most: Cost
    proposals: int | None
    least: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """For a prompt of about `prompt_tokens`, and answers that are supposed to have `answer_tokens`."""

    prompt_tokens: int
    answer_tokens: int
    models: tuple[ModelEstimate, ...]


def estimate(
    prompt: Prompt, members: Sequence[ModelSection], budget: Budget, progress: Progress | None = None
) -> Estimate:
    """The estimate for calls with such a prompt; `progress` is what was spent before."""
    tokens = prompt.estimated_tokens
    spent = progress or Progress()
    found = []
    for member in members:
        usual, most = _usual(member, tokens), _most(member, prompt)
        counts = _count(usual, budget, spent), _count(most, budget, spent)
        found.append(ModelEstimate(member.name, usual, most, *counts))
    return Estimate(tokens, ANSWER_TOKENS, tuple(found))


def _usual(member: ModelSection, prompt_tokens: int) -> Cost:
    answer = min(ANSWER_TOKENS, member.max_tokens)
    return prices_of(member).cost(Usage(prompt_tokens, answer), answer / TOKENS_PER_SECOND)


def _most(member: ModelSection, prompt: Prompt) -> Cost:
    return prices_of(member).worst(prompt.size, len(prompt.messages), member.max_tokens, member.timeout_seconds)


def _count(cost: Cost, budget: Budget, spent: Progress) -> int | None:
    """How many proposals of this cost a budget pays for: found by halving, for who spends more affords no more."""
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
