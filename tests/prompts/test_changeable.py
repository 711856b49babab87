"""Which lines may change, in words."""

from prompt_scenes import NEAREST, hostile_task, tour_task, with_block

from evolve.prompts.changeable import allowed, places
from evolve.types import Program

SEED = tour_task().seed


def test_blocks_are_named_by_their_lines() -> None:
    """Those of the program that is shown, and files that it has added."""
    assert places(SEED, SEED) == "May change: lines 6 to 8 of `seed.py`."
    grown = Program({**with_block(NEAREST).files, "lib.py": "x"})
    assert places(grown, SEED) == "May change: all of `lib.py`; lines 6 to 13 of `seed.py`."


def test_an_empty_block_is_between_two_lines() -> None:
    """Something may be written there."""
    empty = Program({"a.py": "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\n"})
    assert places(empty, empty) == "May change: lines between 1 and 2 of `a.py`."


def test_without_blocks_everything_may_change() -> None:
    """Of each file."""
    seed = hostile_task().seed
    assert (allowed(seed), places(seed, seed)) == (
        "All of `main.py` and `notes.txt` may change.",
        "All of it may change.",
    )


def test_a_file_beside_one_with_blocks_stays() -> None:
    """As `changes.refusal` has it."""
    assert allowed(Program({**SEED.files, "data.py": "x = 1", "more.py": ""})) == (
        "Of `seed.py`, only what stands between the lines `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` may change, "
        "and nothing of `data.py` and `more.py`."
    )
