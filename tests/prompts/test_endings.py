"""How a judging ended, in a few words."""

import pytest
from prompt_scenes import NEAREST, Scene, failed, with_block

from evolve.prompts.endings import ended
from evolve.types import Outcome


@pytest.mark.parametrize(
    ("outcome", "feedback", "thought", "told"),
    [
        (Outcome.CRASHED, "Traceback:\n  line 1\nValueError: no\n\nMore.", "", "failed, crashed: “ValueError: no”"),
        (Outcome.WRONG, "", "", "failed, wrong"),
        (Outcome.SCREENED, "a duplicate", "I think", "not judged: “a duplicate”"),
        (Outcome.BELOW_THRESHOLD, "3 < 4", "", "stopped, below the threshold of a stage: “3 < 4”"),
        (Outcome.INTERNAL, "", "", "not judged, the machinery failed"),
    ],
)
def test_how_a_judging_ended(outcome: Outcome, feedback: str, thought: str, told: str) -> None:
    """The class, and the last line of the first paragraph."""
    scene = Scene()
    name = scene.store("words", feedback) if feedback else ""
    number = scene.add(with_block(NEAREST), failed(outcome, name), "diff", (1,), thought)
    assert told == ended(scene.history, scene.history.record(number))


def test_without_a_program_the_thought_says_why() -> None:
    """And where a rehearsal does not store a text, there is none."""
    scene = Scene()
    number = scene.add(None, failed(Outcome.SCREENED, "not stored"), "diff", (1,), "nothing to change")
    assert ended(scene.history, scene.history.record(number)) == "not judged: “nothing to change”"
