"""Costs in words."""

import pytest

from evolve import wording
from evolve.cli import costs
from evolve.report import CostLine, Costs, Yield
from evolve.types import Progress

LINE = CostLine("diff", 120, 3, 301_000, 61_000, 250_000, 0.84, 0.0, 1503.0, 0.95)


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress(), "0 calls, 0 tokens"),
        (Progress(calls=214, tokens=512_300, money=1.234), "214 calls, 512,300 tokens, 1.23 usd"),
        (Progress(calls=1, tokens=10, gpu_seconds=5400), "1 call, 10 tokens, 1.5 GPU hours"),
    ],
)
def test_what_was_spent_is_told_without_what_was_not(progress, text):
    """No money where nothing costs any."""
    assert costs.spent(progress) == text


def test_a_line_of_costs_has_all_its_sums():
    """In one order."""
    told = "120 calls (3 failed), 301,000 tokens in (250,000 cached), 61,000 out, 0.84 usd, 25 min 3 s, 95% exact"
    assert costs.line(LINE) == f"diff: {told}"


def test_what_is_zero_is_left_out():
    """Failures, cached tokens, money, GPUs."""
    plain = CostLine("", 1, 0, 9, 1, 0, 0.0, 0.0, 2.0, 1.0)
    assert costs.line(plain) == "1 call, 9 tokens in, 1 out, 2 s, 100% exact"


def test_facts_are_by_purpose_model_and_operator():
    """A call before any step is no operator's."""
    found = Costs(LINE, (LINE, CostLine("", *([0] * 9))), (LINE,), (LINE,))
    rows = dict(costs.facts_of(found))
    assert list(rows) == ["calls", "cost by model", "cost by operator"]
    assert rows["cost by operator"].splitlines()[1].startswith("before any step: 0 calls")


def test_models_are_told_as_operators_are():
    """With their shares."""
    lines = (Yield("small", 12, 10, 3), Yield("large", 1, 1, 1), Yield("bad", 44, 0, 0))
    assert wording.yields(lines) == (
        "small: 10 judged, 30% better than their parents, 2 screened\nlarge: 1 judged, 100% better than their parents\n"
        "bad: 0 judged, 44 screened"
    )
