"""Whole prompts, letter by letter: what a model reads is reviewed like code. `python tests/prompts/test_golden.py` writes them anew."""

from collections.abc import Callable
from pathlib import Path

import pytest
from prompt_scenes import FROM_TWO_OPT, HOSTILE, Scene, grown, hostile_task, tour_task, with_block

from evolve.prompts import build, repair
from evolve.types import Evaluation, Outcome, Prompt, Selection

FOLDER = Path(__file__).resolve().parents[1] / "data" / "prompts"
ROOM = 24_000


def first() -> Prompt:
    """The first step: nothing but the seed, its feedback, and a rule that everything of it may change."""
    scene = Scene(tour_task(anchors=(), objectives=(), constraints=(), held_out=()))
    return build("diff", Selection("diff", parents=(1,)), scene.context(), tokens=ROOM)


def lineage() -> Prompt:
    """A step in the middle of a campaign."""
    return build("diff", FROM_TWO_OPT, grown().context(), tokens=ROOM)


def trimmed() -> Prompt:
    """The same step where there is room for two thirds of it."""
    return build("diff", FROM_TWO_OPT, grown().context(), tokens=1900)


def crossover() -> Prompt:
    """Two parents."""
    return build("crossover", Selection("crossover", parents=(2, 3)), grown().context(), tokens=ROOM)


def fix() -> Prompt:
    """A program that crashed, with its traceback."""
    return build("fix", Selection("fix", parents=(4,)), grown().context(), tokens=ROOM)


def reflect() -> Prompt:
    """What the latest proposals teach."""
    return build("reflect", Selection("reflect", parents=(5,)), grown().context(), tokens=ROOM, values={"most": "3"})


def rewrite() -> Prompt:
    """Two files without blocks, one of them hostile, and all that is said of it."""
    scene = Scene(hostile_task())
    words = scene.store("words", HOSTILE)
    scene.add(scene.task.seed, Evaluation.failed(Outcome.WRONG, words), "rewrite", (1,), HOSTILE)
    found = Evaluation.ok(1.25, standard_error=0.03, feedback=words, artifacts={HOSTILE: words})
    scene.add(hostile_task("x = 2\n").seed, found, "rewrite", (1,), HOSTILE)
    return build("rewrite", Selection("rewrite", parents=(3,), inspirations=(1,)), scene.context(), tokens=ROOM)


def repaired() -> Prompt:
    """One more turn, after an edit that fits nowhere."""
    reply = "Hypothesis: Start in the middle.\n\n<<<<<<< SEARCH\norder = [1]\n=======\norder = [0]\n>>>>>>> REPLACE\n"
    reason = "SEARCH was not found in seed.py. The nearest lines there:\n\n    return list(range(len(points)))\n"
    return repair(first(), reply, reason)


SITUATIONS: dict[str, Callable[[], Prompt]] = {
    "first": first,
    "lineage": lineage,
    "trimmed": trimmed,
    "crossover": crossover,
    "fix": fix,
    "reflect": reflect,
    "rewrite": rewrite,
    "repaired": repaired,
}


def text(prompt: Prompt) -> str:
    """All messages, each below its role."""
    return "\n".join(f"================ {message.role}\n\n{message.text}\n" for message in prompt.messages)


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_prompt_is_what_was_reviewed(name: str) -> None:
    """To the letter."""
    assert (FOLDER / f"{name}.txt").read_text("utf-8") == text(SITUATIONS[name]())


def test_every_reviewed_prompt_is_compared() -> None:
    """None lies there that nobody makes any more."""
    assert {path.stem for path in FOLDER.iterdir()} == set(SITUATIONS)


def test_the_changed_block_is_the_seeds() -> None:
    """The scenes' programs differ from their seed inside the block alone."""
    assert with_block("pass\n").files["seed.py"].count("EVOLVE-BLOCK") == 2


if __name__ == "__main__":
    for situation, made in SITUATIONS.items():
        (FOLDER / f"{situation}.txt").write_text(text(made()), "utf-8")
