"""What proposals will cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.campaign.spending import ANSWER_TOKENS, estimate_costs, prices_of
from evolve.config import ModelSection
from evolve.models.prices import Cost
from evolve.stop import Budget, any_of, parse
from evolve.types import Message, Progress, Prompt, Section

PROMPT = Prompt((Message("system", (Section("task", "x" * 3000),)), Message("user", (Section("parent", "y" * 1000),))))
MEMBER = ModelSection(name="small", prompt_price=2.0, completion_price=10.0, max_tokens=4000)


def budget(*texts: str) -> Budget:
    """The first one that is spent ends it."""
    return any_of(parse(text, 0.0) for text in texts)


def test_a_proposal_costs_its_prompt_and_an_answer_of_the_usual_length():
    """Four characters are a token; at most, each byte is one and the answer as long as it may be."""
    found = estimate_costs(PROMPT, (MEMBER,), budget("5usd"))
    assert (found.prompt_tokens, found.answer_tokens) == (1000, ANSWER_TOKENS)
    (line,) = found.models
    assert line.usual == Cost(1, 2000, pytest.approx((1000 * 2 + 1000 * 10) / 1e6))
    assert line.most == prices_of(MEMBER).worst(4000, 2, 4000, MEMBER.timeout_seconds)
    assert (line.proposals, line.least) == (int(5 / 0.012), int(5 / line.most.money))


@pytest.mark.parametrize(
    ("limits", "progress", "proposals"),
    [
        (budget("10calls"), Progress(calls=4), 6),
        (budget("10programs", "5usd"), Progress(), 10),
        (budget("7000tokens"), Progress(), 3),
        (budget("7000tokens"), Progress(tokens=9000), 0),
        (budget("60s"), Progress(), None),
        (budget(), Progress(), None),
    ],
)
def test_what_is_left_of_a_budget_pays_for_so_many_proposals(limits, progress, proposals):
    """None where it does not end with them."""
    assert estimate_costs(PROMPT, (MEMBER,), limits, progress).models[0].proposals == proposals


def test_each_model_has_its_own_estimate():
    """One that costs nothing, and one on two GPUs of one's own."""
    free = ModelSection(name="free", kind="mailbox")
    own = ModelSection(name="own", gpus=2, gpu_hour_price=3.6, concurrency=4, timeout_seconds=100)
    found = {line.model: line for line in estimate_costs(PROMPT, (free, own), budget("1usd")).models}
    assert (found["free"].usual.money, found["free"].proposals) == (0.0, None)
    assert found["own"].usual.gpu_seconds == ANSWER_TOKENS / 50 * 2 / 4
    assert found["own"].most.gpu_seconds == 50.0
    assert found["own"].least == int(1 / found["own"].most.money)


@given(st.integers(1, 10**6), st.integers(0, 10**5))
def test_one_proposal_more_would_overshoot(limit, spent):
    """Whatever is left."""
    limits, progress = budget(f"{limit}tokens"), Progress(tokens=spent)
    line = estimate_costs(PROMPT, (MEMBER,), limits, progress).models[0]
    assert line.proposals == max(0, (limit - spent) // line.usual.tokens)
    assert line.least <= line.proposals
