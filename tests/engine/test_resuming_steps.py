"""A campaign with models that was killed anywhere goes on as if nothing had happened: in the middle of a step with several samples, of a repair,
of a question to the novelty model."""

import threading
from collections.abc import Sequence

from loop_fakes import FakeExecutor, Seen, Workbench, cut, near_seven
from model_fakes import USAGE, FakeModel, members

from evolve.campaign import Campaign
from evolve.engine import run
from evolve.types import LessonWritten, ModelError, Prompt, Replied, Reply, Settled

SETTINGS = {
    "models": {
        "members": [{"name": "fast", "kind": "fake", "concurrency": 4}, {"name": "small", "kind": "fake"}],
        "purposes": {"novelty": "small"},
    },
    "novelty": {"distance": 0.5},
    "operators": {"names": ["tune_literals", "diff", "rewrite", "fix"], "settings": {"rewrite": {"samples": 3}}},
    "lessons": {"every": 9},
    "prompts": {"hardware": False},
    "budget": ["14programs"],
    "deterministic": True,
}


class Oracle(FakeModel):
    """Answers by the prompt and the number of the sample alone, as a recording does."""

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        self.prompts.append(prompt)
        number = int(prompt.request[:8], 16) + 7 * samples[0]
        if number % 11 == 0:
            raise ModelError("it broke off")
        return [Reply(_answer(prompt, number), finish="stop", usage=USAGE)]


def _answer(prompt: Prompt, number: int) -> str:
    name = prompt.messages[-1].sections[-1].name
    if name == "difference":
        return "yes" if number % 2 else "no"
    if name == "reflect":
        return f"- Lesson {number % 100}."
    if number % 3 == 0:
        return "Let me think about numbers."
    lines = "".join(f"    step_{line} = {'abcde'[number % 5] if line == 4 else 'x'}{line}\n" for line in range(9))
    body = f"def value():\n{lines}    return {number % 1000 / 100!r}\n"
    return f"Hypothesis: {number % 1000}.\n\n```seed.py\n{body}```"


def played(campaign: Campaign) -> str:
    run(campaign, FakeExecutor(near_seven), Seen(), members(campaign, Oracle(), Oracle()))
    return campaign.digest()


def test_a_campaign_that_was_killed_after_any_event_ends_as_if_it_was_not(bench: Workbench) -> None:
    """Its log is the same, but for times; no call is made twice."""
    with bench.create(**SETTINGS) as campaign:
        whole = played(campaign)
        events = [stamped.event for stamped in campaign.log.events()]
        path = campaign.log.path
    calls = [event for event in events if isinstance(event, Replied)]
    assert {event.call.purpose for event in calls} == {"propose", "repair", "reflect", "novelty"}
    assert {bool(event.call.error) for event in calls} == {True, False}
    first = next(number for number, event in enumerate(events, 1) if isinstance(event, Settled))
    # What is written in one transaction is lost or kept together.
    cuts = [count for count in range(first, len(events)) if not isinstance(events[count], LessonWritten)]
    ends = dict[int, str]()
    for count in cuts:
        with bench.open(str(cut(path, count))) as again:
            ends[count] = played(again)
    assert [count for count, end in ends.items() if end != whole] == []
