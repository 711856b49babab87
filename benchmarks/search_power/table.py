"""Tables of the comparison of search power, in Markdown, from a folder with `result.json` files.

A gain is told as a share: 0 is the seed's score, 1 the best that any run in the folder has found on the task, or on the held-out case. Arms are
compared in pairs within blocks (a task with a seed), for chance between tasks and seeds is large. Tests and intervals are exact as long as
signs can be counted out, and assume no law but that two arms that are equally good might change places in each block."""

import argparse
import json
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
MOST_COUNTED = 18
"""Blocks whose signs are all counted out; of more a sample is drawn."""
DRAWN = 200_000
WORST = -1.0
"""Share of a program that fails on a held-out case, or is worse than the seed by more than the best known is better."""
Block = tuple[str, int]
Shares = Mapping[Block, Mapping[str, float]]
"""One number for each arm of each block; larger is better."""


@dataclass(frozen=True)
class Run:
    """A campaign, as `result.json` has it. Scores are turned so that larger is better; None for a failure."""

    task: str
    arm: str
    seed: int
    turned: bool
    start: float
    curve: Sequence[float]
    held_out: Mapping[str, tuple[float, float | None]]
    tokens: tuple[int, int]

    @property
    def block(self) -> Block:
        """What it is paired by."""
        return self.task, self.seed

    @property
    def best(self) -> float:
        """The best score on the search's own cases."""
        return self.curve[-1] if self.curve else self.start


def read_run(result: Mapping[str, Any]) -> Run:
    """Returns a run from the contents of its `result.json`."""
    sign = 1.0 if result["direction"] == "max" else -1.0
    return Run(
        task=result["task"],
        arm=result["arm"],
        seed=result["seed"],
        turned=sign < 0,
        start=sign * result["search"]["seed"],
        curve=[sign * score for score in result["best_so_far"]],
        held_out={
            case: (sign * both["seed"], None if both["best"] is None else sign * both["best"])
            for case, both in result["held_out"].items()
            if both["seed"] is not None
        },
        tokens=(result["prompt_tokens"], result["completion_tokens"]),
    )


@dataclass(frozen=True)
class Scale:
    """What shares of one task are told by."""

    calls: int
    best: float
    held_out: Mapping[str, float]


def scale_of(runs: Sequence[Run]) -> Scale:
    """Returns the most calls, and the best score known, of the runs of one task."""
    cases = {case for run in runs for case in run.held_out}
    known = {
        case: max(score for run in runs if case in run.held_out for score in run.held_out[case] if score is not None)
        for case in cases
    }
    return Scale(max(len(run.curve) for run in runs), max(run.best for run in runs), known)


def share(score: float | None, start: float, best: float) -> float:
    """Returns what part of the way from the seed to the best known a score is; 0 where nobody has found anything better than the seed."""
    if score is None:
        return WORST
    return max(WORST, (score - start) / (best - start)) if best > start else (WORST if score < start else 0.0)


def best_share(run: Run, scale: Scale) -> float:
    """Returns the share of the best program."""
    return share(run.best, run.start, scale.best)


def area_share(run: Run, scale: Scale) -> float:
    """Returns the mean share of the best so far over all calls; a campaign that ended sooner keeps what it had."""
    curve = [*run.curve, *[run.best] * (scale.calls - len(run.curve))]
    return statistics.fmean(share(score, run.start, scale.best) for score in curve) if curve else 0.0


def held_out_share(run: Run, scale: Scale) -> float:
    """Returns the mean share over the held-out cases; 0 without any."""
    shares = [share(score, start, scale.held_out[case]) for case, (start, score) in run.held_out.items()]
    return statistics.fmean(shares) if shares else 0.0


MEASURES: Mapping[str, Callable[[Run, Scale], float]] = {
    "best": best_share,
    "area": area_share,
    "held out": held_out_share,
}


def rank(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the rank of each arm within a block: 1 is the best, and equal ones share the mean of their ranks."""
    return {
        arm: 1.0
        + sum(other > value for other in values.values())
        + (sum(other == value for other in values.values()) - 1) / 2
        for arm, value in values.items()
    }


def sign_flip_p(differences: Sequence[float]) -> float:
    """Returns the two-sided p-value of a mean difference: the share of all choices of signs whose mean is as far from 0."""
    signs = 2.0 * _choices(len(differences)) - 1.0
    means = np.abs(signs @ np.asarray(differences, dtype=float))
    return float(np.mean(means >= abs(sum(differences)) - 1e-9))


def sign_flip_interval(differences: Sequence[float]) -> tuple[float, float] | None:
    """Returns the interval of the mean difference that belongs to the test; None where there are too few blocks for one.

    The means of all subsets divide the line into parts that are equally likely to hold the truth (J. A. Hartigan, "Using subsample values as typical
    values", Journal of the American Statistical Association 64, 1969)."""
    chosen = _choices(len(differences))
    chosen = chosen[chosen.any(axis=1)]
    means = np.sort(chosen @ np.asarray(differences, dtype=float) / chosen.sum(axis=1))
    left_out = int((1.0 - LEVEL) / 2.0 * (len(means) + 1))
    return (float(means[left_out - 1]), float(means[-left_out])) if left_out else None


def _choices(count: int) -> NDArray[np.float64]:
    """Returns all ways to choose among so many blocks, a row of noughts and ones each; many at random, where there are too many."""
    if count > MOST_COUNTED:
        return np.random.default_rng(0).integers(0, 2, (DRAWN, count)).astype(float)
    return (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(float)


@dataclass(frozen=True)
class Comparison:
    """Two arms over the blocks that have both. `difference` is the mean of the other's rank minus that of the first one: above 0 where
    the first is better. `left_out` are the blocks that have one of the two alone."""

    better: int
    equal: int
    worse: int
    difference: float
    interval: tuple[float, float] | None
    p: float
    gain: float
    left_out: Sequence[Block]

    @property
    def blocks(self) -> int:
        """How many there are."""
        return self.better + self.equal + self.worse


def compare(shares: Shares, first: str, other: str) -> Comparison | None:
    """Returns how two arms compare; None where no block has both."""
    paired = [values for values in shares.values() if first in values and other in values]
    if not paired:
        return None
    ranks = [rank(values) for values in paired]
    differences = [ranked[other] - ranked[first] for ranked in ranks]
    return Comparison(
        better=sum(difference > 0 for difference in differences),
        equal=sum(difference == 0 for difference in differences),
        worse=sum(difference < 0 for difference in differences),
        difference=statistics.fmean(differences),
        interval=sign_flip_interval(differences),
        p=sign_flip_p(differences),
        gain=statistics.fmean(values[first] - values[other] for values in paired),
        left_out=sorted(block for block, values in shares.items() if (first in values) != (other in values)),
    )


def format_tables(runs: Sequence[Run], first: str) -> str:
    """Returns all tables, and what they cannot decide."""
    tasks = sorted({run.task for run in runs})
    scales = {task: scale_of([run for run in runs if run.task == task]) for task in tasks}
    arms = sorted({run.arm for run in runs}, key=lambda arm: (arm != first, arm))
    rows = [
        format_arm([run for run in runs if (run.task, run.arm) == (task, arm)], scales[task])
        for task in tasks
        for arm in arms
        if any((run.task, run.arm) == (task, arm) for run in runs)
    ]
    heads = (
        "task",
        "arm",
        "runs",
        "calls",
        "seed's score",
        "best score",
        "best",
        "area",
        "held out",
        "tokens in",
        "out",
    )
    pooled, undecided = format_comparisons(runs, scales, first, [arm for arm in arms if arm != first])
    parts = [markdown(heads, rows), pooled, *undecided, *format_notes(runs, scales)]
    return "\n\n".join(parts)


def format_arm(runs: Sequence[Run], scale: Scale) -> tuple[str, ...]:
    """Returns the row of an arm on a task: medians, and the ranges in brackets."""
    sign = -1.0 if runs[0].turned else 1.0
    cells = [spread([measure(run, scale) for run in runs], 2) for measure in MEASURES.values()]
    calls = sorted({len(run.curve) for run in runs})
    tokens = [f"{statistics.fmean(run.tokens[side] for run in runs):,.0f}" for side in (0, 1)]
    return (
        runs[0].task,
        f"`{runs[0].arm}`",
        str(len(runs)),
        " to ".join(map(str, dict.fromkeys((calls[0], calls[-1])))),
        f"{sign * runs[0].start:.4g}",
        spread([sign * run.best for run in runs], 4),
        *cells,
        *tokens,
    )


def spread(values: Sequence[float], digits: int) -> str:
    """Returns the median, and the range in brackets where there are several."""
    form = f".{digits}f" if digits < 4 else f".{digits}g"
    middle = f"{statistics.median(values):{form}}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


def format_comparisons(
    runs: Sequence[Run], scales: Mapping[str, Scale], first: str, others: Sequence[str]
) -> tuple[str, list[str]]:
    """Returns the table of pairs, and the sentences on what is not decided and which blocks are left out."""
    rows, undecided, left_out = list[tuple[str, ...]](), list[str](), dict[str, Sequence[Block]]()
    for other in others:
        for name, measure in MEASURES.items():
            shares: dict[Block, dict[str, float]] = {}
            for run in runs:
                shares.setdefault(run.block, {})[run.arm] = measure(run, scales[run.task])
            found = compare(shares, first, other)
            if found is None:
                undecided.append(f"`{other}` on {name} (no block in common)")
                continue
            left_out[other] = found.left_out
            rows.append(format_comparison(other, name, found))
            if found.p > 1.0 - LEVEL:
                undecided.append(f"`{other}` on {name} (p = {found.p:.2g})")
    heads = (
        f"`{first}` against",
        "on",
        "blocks",
        "better / equal / worse",
        "ranks ahead",
        "95 % interval",
        "p",
        "share ahead",
    )
    sentences = [f"Not decided by these runs: {'; '.join(undecided)}."] if undecided else []
    sentences += [
        f"Left out against `{other}`, where one arm is missing: {name_blocks(some)}."
        for other, some in left_out.items()
        if some
    ]
    return markdown(heads, rows), sentences


def format_comparison(other: str, name: str, found: Comparison) -> tuple[str, ...]:
    """Returns the row of a pair of arms."""
    interval = "too few blocks" if found.interval is None else f"{found.interval[0]:+.2f} to {found.interval[1]:+.2f}"
    counts = f"{found.better} / {found.equal} / {found.worse}"
    return (
        f"`{other}`",
        name,
        str(found.blocks),
        counts,
        f"{found.difference:+.2f}",
        interval,
        f"{found.p:.2g}",
        f"{found.gain:+.3f}",
    )


def format_notes(runs: Sequence[Run], scales: Mapping[str, Scale]) -> list[str]:
    """Returns sentences on what makes runs unequal: other numbers of calls, other judges' seeds, runs that stand there twice."""
    notes = []
    short = [
        f"{run.task} {run.arm} {run.seed}: {len(run.curve)}" for run in runs if len(run.curve) < scales[run.task].calls
    ]
    if short:
        notes.append(f"Fewer calls than others on the task: {'; '.join(short)}.")
    twice = [key for key, count in Counter((run.task, run.arm, run.seed) for run in runs).items() if count > 1]
    if twice:
        notes.append(
            f"There twice, of which the last counts in pairs: {'; '.join(' '.join(map(str, key)) for key in twice)}."
        )
    unlike = [task for task in scales if len({run.start for run in runs if run.task == task}) > 1]
    if unlike:
        notes.append(f"Seeds with different scores, so that the instances were not the same: {', '.join(unlike)}.")
    return notes


def name_blocks(blocks: Iterable[Block]) -> str:
    """Returns blocks as words."""
    return ", ".join(f"{task} {seed}" for task, seed in blocks)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Prints the tables of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where result.json files lie, at any depth")
    parser.add_argument("--of", default="default", help="the arm that is compared with each other arm")
    args = parser.parse_args()
    runs = [read_run(json.loads(path.read_text())) for path in sorted(args.folder.rglob("result.json"))]
    if not any(run.arm == args.of for run in runs):
        raise SystemExit(
            f"table.py: no result of the arm {args.of!r} in {args.folder}. Try: run.py TASK {args.of} SEED --out {args.folder}"
        )
    print(format_tables(runs, args.of))


if __name__ == "__main__":
    main()
