"""A prompt is the same whenever it is built: in the middle of a campaign, after a crash, and by a process that has built no other.
`python tests/prompts/test_prompts_again.py` says what such a process builds."""

import subprocess
import sys
from collections.abc import Iterator
from random import Random

import pytest
from random_campaigns import Campaign

from evolve.bounded_cache import BoundedCache
from evolve.prompts import build
from evolve.types import EditError, text_id

pytestmark = pytest.mark.integration

KINDS = ("diff", "rewrite", "crossover", "fix", "reflect")
LENGTH = 400


def steps(campaign: Campaign, seed: int) -> Iterator[tuple[str, int, int, int]]:
    """Kind, how many records had settled, which rulings held, and tokens."""
    random = Random(seed)
    for length in sorted(random.randrange(max(2, campaign.columns.since), LENGTH + 1) for _ in range(80)):
        yield random.choice(KINDS), length, random.choice([0, 0, 1]), random.choice([24_000, 24_000, 2_500])


def built(campaign: Campaign, step: tuple[str, int, int, int], number: int, derived: BoundedCache | None) -> str:
    """What is asked in a step; why nothing is, where nothing is."""
    kind, length, ruling, tokens = step
    campaign.random.seed(number)
    selection = campaign.selection(kind, length)
    context = campaign.context(length, derived, ruling=ruling)
    try:
        prompt = build(kind, selection, context, tokens=tokens)
    except EditError as error:
        return str(error)
    return "\n\n".join(message.text for message in prompt.messages)


def digests(seed: int) -> list[str]:
    """Of all steps of a campaign, the last one first, each with nothing that was derived before."""
    campaign = Campaign(seed, LENGTH)
    numbered = list(enumerate(steps(campaign, seed)))
    return [text_id(built(campaign, step, number, None)) for number, step in reversed(numbered)][::-1]


@pytest.mark.parametrize("since", [0, 150])
@pytest.mark.parametrize("seed", range(4))
def test_what_was_derived_before_changes_no_prompt(seed: int, since: int) -> None:
    """Whatever had settled, was ruled out, was evaluated by an earlier version, or fits in."""
    campaign = Campaign(seed, LENGTH, since=since)
    numbered = list(enumerate(steps(campaign, seed)))
    warm = [built(campaign, step, number, campaign.derived) for number, step in numbered]
    cold = [built(campaign, step, number, None) for number, step in numbered]
    again = [built(campaign, step, number, campaign.derived) for number, step in reversed(numbered)][::-1]
    assert warm == cold == again
    assert len({*warm}) > len(warm) // 2


def test_a_fresh_process_builds_the_same_prompts() -> None:
    campaign = Campaign(7, LENGTH)
    warm = [text_id(built(campaign, step, number, campaign.derived)) for number, step in enumerate(steps(campaign, 7))]
    found = subprocess.run([sys.executable, __file__, "7"], capture_output=True, text=True, check=True)
    assert warm == found.stdout.split()


if __name__ == "__main__":
    print(*digests(int(sys.argv[1])), sep="\n")
