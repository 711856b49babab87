"""Cheats of single kernel tasks: programs that are right on what is easy, each beside an honest one that looks much like it.

Invariant: the programs are those that `evolve task check` tries, in the folders of the tasks, or the seed with a shortcut before it, whose twin is the seed behind the same call."""

from pathlib import Path

from cheat import Cheat

from evolve.types import Outcome

TASKS = Path(__file__).parents[2] / "tasks"
HARD = "inputs are fresh for every call, of kinds that are hard"
BOUND = "a tolerance between what single precision costs and what half precision does"
EVERY = "every element of every answer is compared, at all edges and to the end of each row"
SHARE = "no kind of inputs is easy as a whole, so that to look for what is easy gains next to nothing"
LITTLE = 0.15
"""What a shortcut may seem to gain: noise, and some percent where a fifth of the rows is easy. Where all were, it gained 0.24 and more."""
EXACT = "answers are compared exactly, of ties the order too"


def cheat(kernel: str, twin: str, name: str, trick: str, rule: str) -> Cheat:
    """One whose program and twin are files of the task's folder."""
    folder = TASKS / f"kernel_{kernel}" / "twins"
    programs = (folder / "dishonest" / f"{name}.c", folder / "honest" / f"{twin}.c")
    files, honest = ({f"{kernel}.c": program.read_text("utf-8")} for program in programs)
    return Cheat(
        f"kernel_{kernel}", name.replace("_", " "), trick, rule, files, frozenset({Outcome.WRONG}), twin=honest
    )


def shortcut(kernel: str, name: str, trick: str, signature: str, call: str, body: str) -> Cheat:
    """The seed under the name `honest`, and before its call what spares it where an input is easy."""
    file = f"{kernel}.c"
    seed = (TASKS / f"kernel_{kernel}" / file).read_text("utf-8")
    declared = f"void {kernel}({signature})\n"
    honest = seed.replace(declared, f"static inline void honest({signature})\n")
    assert honest != seed, "the seed's signature is another one"
    files, twin = ({file: f"{honest}\n{declared}{{\n{text}\n}}\n"} for text in (body, call))
    outcomes = frozenset({Outcome.OK})
    return Cheat(f"kernel_{kernel}", name, trick, SHARE, files, outcomes, LITTLE, twin=twin)


EQUAL_ROWS = """for (long r = 0; r < rows; r++) {
    const float *row = in + r * columns;
    long c = 1;
    while (c < columns && row[c] == row[0])
        c++;
    if (c < columns)
        honest(out + r * columns, row, 1, columns);
    else
        for (c = 0; c < columns; c++)
            out[r * columns + c] = 1.0f / columns;
}"""
EQUAL_CELLS = """long i = 1;
while (i < rows * columns && in[i] == in[0])
    i++;
if (i < rows * columns) {
    honest(out, in, weights, rows, columns);
    return;
}
float sum = 0;
for (int k = 0; k < 9; k++)
    sum += weights[k] * in[0];
for (i = 0; i < rows * columns; i++)
    out[i] = sum;"""

CHEATS = (
    cheat("layernorm", "squares_in_double", "squares_in_single", "the variance as the mean of squares minus the square of the mean, in single precision", HARD),
    cheat("layernorm", "squares_in_double", "statistics_of_a_part", "mean and variance of nine tenths of each row", EVERY),
    cheat("prefix_sum", "one_by_one", "begins_anew", "sixteen sums side by side, each of which begins anew", EVERY),
    cheat("prefix_sum", "one_by_one", "half_precision", "sums with the 11 bits of half precision", BOUND),
    cheat("stencil", "plain", "no_edges", "cells at the edges are copied", EVERY),
    cheat("stencil", "plain", "around_the_corner", "left of the first column is the end of the row before", EVERY),
    shortcut("softmax", "knows constants", "rows whose numbers are all equal have an answer that is known", "float *out, const float *in, long rows, long columns", "honest(out, in, rows, columns);", EQUAL_ROWS),
    shortcut("stencil", "knows constants", "a grid whose cells are all equal has one answer everywhere", "float *out, const float *in, const float *weights, long rows, long columns", "honest(out, in, weights, rows, columns);", EQUAL_CELLS),
    cheat("topk", "one_by_one", "any_of_equals", "of equal numbers the last one first", EXACT),
    cheat("topk", "one_by_one", "every_second", "looks at every second number when k are held", EXACT),
)  # fmt: skip
