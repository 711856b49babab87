"""Cheats of single kernel tasks: programs that are right on what is easy, each beside an honest one that looks much like it.

Invariant: the programs are those that `evolve task check` tries, in the folders of the tasks."""

from pathlib import Path

from cheat import Cheat

from evolve.types import Outcome

TASKS = Path(__file__).parents[2] / "tasks"
HARD = "inputs are fresh for every call, of kinds that are hard"
BOUND = "a tolerance between what single precision costs and what half precision does"
EVERY = "every element of every answer is compared, at all edges and to the end of each row"
EXACT = "answers are compared exactly, of ties the order too"


def cheat(kernel: str, twin: str, name: str, trick: str, rule: str) -> Cheat:
    """One whose program and twin are files of the task's folder."""
    folder = TASKS / f"kernel_{kernel}" / "twins"
    programs = (folder / "dishonest" / f"{name}.c", folder / "honest" / f"{twin}.c")
    files, honest = ({f"{kernel}.c": program.read_text("utf-8")} for program in programs)
    return Cheat(
        f"kernel_{kernel}", name.replace("_", " "), trick, rule, files, frozenset({Outcome.WRONG}), twin=honest
    )


CHEATS = (
    cheat("layernorm", "squares_in_double", "squares_in_single", "the variance as the mean of squares minus the square of the mean, in single precision", HARD),
    cheat("layernorm", "squares_in_double", "statistics_of_a_part", "mean and variance of nine tenths of each row", EVERY),
    cheat("prefix_sum", "one_by_one", "begins_anew", "sixteen sums side by side, each of which begins anew", EVERY),
    cheat("prefix_sum", "one_by_one", "half_precision", "sums with the 11 bits of half precision", BOUND),
    cheat("stencil", "plain", "no_edges", "cells at the edges are copied", EVERY),
    cheat("stencil", "plain", "around_the_corner", "left of the first column is the end of the row before", EVERY),
    cheat("topk", "one_by_one", "any_of_equals", "of equal numbers the last one first", EXACT),
    cheat("topk", "one_by_one", "every_second", "looks at every second number when k are held", EXACT),
)  # fmt: skip
