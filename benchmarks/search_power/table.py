"""Tables of the comparison of search power, in Markdown, from a folder with `result.json` files.

A gain is told as a share: 0 is the seed's score, 1 the best that any run in the folder has found on the task, or on the held-out case. Arms are
compared by ranks within each task, for chance between tasks is large. A campaign's number pairs it with none of another arm: a model draws its answers
anew. Tests and intervals are exact as long as the ways to deal a task's campaigns to two arms can be counted out, and assume no law but that any way is as likely
as another where the arms are equally good."""

import argparse
import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np

LEVEL = 0.95
MOST_COUNTED = 20_000
"""Ways to deal the campaigns of a task that are all counted out; of more a sample is drawn."""
DRAWN = 20_000
WORST = -1.0
"""Share of a program that fails on a held-out case, or is worse than the seed by more than the best known is better."""
Sides = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Numbers of the campaigns of two arms on each task; larger is better."""


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


def superiority(first: Sequence[float], other: Sequence[float]) -> float:
    """Returns the share of pairs, one campaign of each arm, in which the first is better; a draw is half a pair."""
    one, two = np.asarray(first), np.asarray(other)[:, None]
    return float(np.mean((one > two) + 0.5 * (one == two)))


def deal(first: Sequence[float], other: Sequence[float]) -> dict[float, float]:
    """Returns the distribution of `superiority` over all ways to deal the campaigns of a task to two arms of these sizes."""
    both, size = np.array([*first, *other]), len(first)
    # Each campaign's pairs won against all others; those within its own arm cancel.
    won = ((both > both[:, None]) + 0.5 * (both == both[:, None])).sum(axis=0) - 0.5
    if math.comb(len(both), size) <= MOST_COUNTED:
        chosen = np.array(list(combinations(range(len(both)), size)))
    else:
        rng = np.random.default_rng(0)
        chosen = np.array([rng.permutation(len(both))[:size] for _ in range(DRAWN)])
    shares = (won[chosen].sum(axis=1) - size * (size - 1) / 2) / (size * len(other))
    values, counts = np.unique(np.round(shares, 9), return_counts=True)
    return {float(value): float(count) / len(chosen) for value, count in zip(values, counts, strict=True)}


def find_p(sides: Sides) -> float:
    """Returns the two-sided p-value: how likely the mean superiority over the tasks is as far from one half as it is, where the arms are equally good."""
    total = {0.0: 1.0}
    for first, other in sides.values():
        dealt, before = deal(first, other), total
        total = {}
        for one, chance in before.items():
            for two, more in dealt.items():
                key = round(one + two, 6)
                total[key] = total.get(key, 0.0) + chance * more
    middle = len(sides) / 2
    found = abs(sum(superiority(*both) for both in sides.values()) - middle)
    return min(1.0, sum(chance for value, chance in total.items() if abs(value - middle) >= found - 1e-5))


def find_interval(sides: Sides) -> tuple[float, float] | None:
    """Returns the interval of the shift that belongs to the test: how much the first arm may be ahead, alike on all tasks, before the test excludes it. None where there are
    too few campaigns to exclude anything."""
    gaps = sorted({one - two for first, other in sides.values() for one in first for two in other})
    # The test changes at the gaps alone: between two of them any shift does, and beyond them one is tried.
    parts = [(-math.inf, gaps[0], gaps[0] - 1.0), (gaps[-1], math.inf, gaps[-1] + 1.0)]
    parts += [(gap, gap, gap) for gap in gaps] + [(low, high, (low + high) / 2) for low, high in pairwise(gaps)]
    kept = [(low, high) for low, high, shift in parts if find_p(_shift(sides, shift)) > 1.0 - LEVEL]
    low, high = min(low for low, _ in kept), max(high for _, high in kept)
    return None if math.inf in (-low, high) else (low, high)


def _shift(sides: Sides, shift: float) -> Sides:
    # Rounded, so that a shift by a gap makes a draw.
    return {
        task: ([round(value - shift, 9) for value in first], [round(value, 9) for value in other])
        for task, (first, other) in sides.items()
    }


@dataclass(frozen=True)
class Comparison:
    """Two arms over the tasks that have both. `runs` are the numbers of their campaigns; `superiority` is the mean over tasks of the share of pairs in which the first arm is
    better, `ahead` that of the difference of the medians. `left_out` are the tasks that have one of the two alone."""

    tasks: int
    runs: tuple[int, int]
    superiority: float
    p: float
    ahead: float
    interval: tuple[float, float] | None
    left_out: Sequence[str]


def compare(values: Mapping[str, Mapping[str, Sequence[float]]], first: str, other: str) -> Comparison | None:
    """Returns how two arms compare by their campaigns' numbers, by task and arm; None where no task has both."""
    sides = {task: (arms[first], arms[other]) for task, arms in values.items() if first in arms and other in arms}
    if not sides:
        return None
    return Comparison(
        tasks=len(sides),
        runs=(sum(len(one) for one, _ in sides.values()), sum(len(two) for _, two in sides.values())),
        superiority=statistics.fmean(superiority(*both) for both in sides.values()),
        p=find_p(sides),
        ahead=statistics.fmean(statistics.median(one) - statistics.median(two) for one, two in sides.values()),
        interval=find_interval(sides),
        left_out=sorted(task for task, arms in values.items() if (first in arms) != (other in arms)),
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
    rows, undecided, left_out = list[tuple[str, ...]](), list[str](), dict[str, Sequence[str]]()
    for other in others:
        for name, measure in MEASURES.items():
            values: dict[str, dict[str, list[float]]] = {}
            for run in runs:
                values.setdefault(run.task, {}).setdefault(run.arm, []).append(measure(run, scales[run.task]))
            found = compare(values, first, other)
            if found is None:
                undecided.append(f"`{other}` on {name} (no task in common)")
                continue
            left_out[other] = found.left_out
            rows.append(format_comparison(other, name, found))
            if found.p > 1.0 - LEVEL:
                undecided.append(f"`{other}` on {name} (p = {found.p:.2g})")
    heads = (f"`{first}` against", "on", "tasks", "campaigns", "better in pairs", "p", "share ahead", "95 % interval")
    sentences = [f"Not decided by these runs: {'; '.join(undecided)}."] if undecided else []
    sentences += [
        f"Left out against `{other}`, where one arm is missing: {', '.join(some)}."
        for other, some in left_out.items()
        if some
    ]
    return markdown(heads, rows), sentences


def format_comparison(other: str, name: str, found: Comparison) -> tuple[str, ...]:
    """Returns the row of a pair of arms."""
    interval = "too few" if found.interval is None else f"{found.interval[0]:+.3f} to {found.interval[1]:+.3f}"
    return (
        f"`{other}`",
        name,
        str(found.tasks),
        f"{found.runs[0]} and {found.runs[1]}",
        f"{found.superiority:.0%}",
        f"{found.p:.2g}",
        f"{found.ahead:+.3f}",
        interval,
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
        notes.append(f"There twice, and counted twice: {'; '.join(' '.join(map(str, key)) for key in twice)}.")
    unlike = [task for task in scales if len({run.start for run in runs if run.task == task}) > 1]
    if unlike:
        notes.append(f"Seeds with different scores, so that the instances were not the same: {', '.join(unlike)}.")
    return notes


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Prints the tables of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", help="where result.json files lie, at any depth")
    parser.add_argument("--of", default="default", help="the arm that is compared with each other arm")
    parser.add_argument(
        "--calls",
        type=int,
        help="only so many calls of each campaign; held-out cases are those of its end all the same",
    )
    args = parser.parse_args()
    runs = [
        read_run(json.loads(path.read_text()))
        for folder in args.folders
        for path in sorted(folder.rglob("result.json"))
    ]
    if args.calls:
        runs = [replace(run, curve=run.curve[: args.calls]) for run in runs]
    if not any(run.arm == args.of for run in runs):
        raise SystemExit(
            f"table.py: no result of the arm {args.of!r} in {', '.join(map(str, args.folders))}. Try: run.py TASK {args.of} SEED --out {args.folders[0]}"
        )
    print(format_tables(runs, args.of))


if __name__ == "__main__":
    main()
