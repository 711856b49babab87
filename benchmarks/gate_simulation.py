"""Simulation of gates and races on a task with 20 cases: how many evaluations of cases a search needs to get as far as one without them.

Parents are those of `gepa`, and what stops a program is the worker's own code. A child is its parent with a change that all cases feel, and one
that each case feels by itself; two of three changes are for the worse. No language model, no program: no figure of it is a result of a search."""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from evolve.evaluation import Job
from evolve.evaluation.cases import evaluate_cases
from evolve.testing import rehearsed_task
from evolve.types import Case, Evaluation, Outcome, RecordId, Task
from evolve_methods.gepa import CaseFront

CASES = tuple(Case(f"c{number}") for number in range(20))
PROPOSALS = 100
SHIFT, SPREAD, WORSE = 1.0, 1.0, -0.43
"""Standard deviations of a change that all cases feel and of one that each feels by itself, and the mean of the first: 67 % are below 0."""
MOST = 3
"""Times the cases of the search without a gate, after which a search with one is given up."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A search: the best mean after each proposal, and the cases that were evaluated until then."""

    best: Sequence[float]
    cases: Sequence[int]


def make_task() -> Task:
    """Returns a task with the cases."""
    return replace(rehearsed_task(), axes=(), cases=CASES, deterministic=True)


def search(task: Task, rng: Generator, most: int, *, race: bool, minibatch: int) -> Ran:
    """Searches with so many proposals; without `race` no child is compared, but on the cases of a gate."""
    programs: dict[RecordId, dict[str, float]] = {1: {case.name: 0.0 for case in CASES}}
    front, best, cases = CaseFront(), [0.0], [len(CASES)]
    front.add(1, programs[1])
    for number in range(2, most + 2):
        shares = front.shares()
        parent = int(rng.choice(list(shares), p=[share / sum(shares.values()) for share in shares.values()]))
        shift = rng.normal(WORSE, SHIFT)
        child = {name: value + shift + rng.normal(0.0, SPREAD) for name, value in programs[parent].items()}
        gate = tuple(f"c{place}" for place in rng.choice(len(CASES), minibatch, replace=False)) if minibatch else ()
        rival = programs[parent] if race else {name: programs[parent][name] for name in gate}
        job = Job(f"{number}.0", "evaluate", rival=rival, gate=gate)
        found = evaluate_cases(task, job, lambda case, child=child: Evaluation.ok(child[case.name]))  # type: ignore[misc]
        cases.append(cases[-1] + len(found.cases))
        mean = -math.inf
        if found.outcome is Outcome.OK:
            programs[number], mean = child, float(np.mean(list(child.values())))
            front.add(number, child)
        best.append(max(best[-1], mean))
    return Ran(best, cases)


def compare(seed: int, task: Task, arm: Callable[[Task, Generator, int], Ran]) -> tuple[float, float, float]:
    """Returns, against the search of this seed without a gate: the cases and the proposals until the arm gets as far, as ratios (infinite where it does not),
    and the share of cases that it evaluates in as many proposals."""
    plain = search(task, np.random.default_rng((seed, 0)), PROPOSALS, race=False, minibatch=0)
    ran = arm(task, np.random.default_rng((seed, 1)), MOST * PROPOSALS)
    place = next((place for place, best in enumerate(ran.best) if best >= plain.best[-1]), None)
    share = ran.cases[PROPOSALS] / plain.cases[PROPOSALS]
    if place is None:
        return math.inf, math.inf, share
    # The plain search may have been there long before its end.
    first = next(place for place, best in enumerate(plain.best) if best >= plain.best[-1])
    return ran.cases[place] / plain.cases[first], place / max(1, first), share


ARMS: dict[str, Callable[[Task, Generator, int], Ran]] = {
    "neither (another seed)": lambda task, rng, most: search(task, rng, most, race=False, minibatch=0),
    "race": lambda task, rng, most: search(task, rng, most, race=True, minibatch=0),
    "gate of 3": lambda task, rng, most: search(task, rng, most, race=False, minibatch=3),
    "gate of 3, race": lambda task, rng, most: search(task, rng, most, race=True, minibatch=3),
}


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description="Simulation of gates and races: no result of a language model.")
    parser.add_argument("--seeds", type=int, default=200)
    given = parser.parse_args()
    task = make_task()
    print(f"Simulation, 20 cases, {PROPOSALS} proposals, {given.seeds} seeds: medians with 95 % intervals\n")
    print(
        "| arm | cases until as good | proposals until as good | never as good | cases of as many proposals |\n|---|---|---|---|---|"
    )
    for name, arm in ARMS.items():
        found = np.array([compare(seed, task, arm) for seed in range(given.seeds)])
        cells = [format_median(found[:, column]) for column in (0, 1)]
        never = f"{np.mean(np.isinf(found[:, 0])):.0%}"
        print(f"| {name} | {' | '.join(cells)} | {never} | {format_median(found[:, 2])} |", flush=True)


def format_median(values: np.ndarray) -> str:  # type: ignore[type-arg]
    """Formats the median with the interval of order statistics."""
    ordered, count = np.sort(values), len(values)
    margin = 0.98 * math.sqrt(count)
    low, high = (ordered[int(np.clip(count / 2 + side * margin, 0, count - 1))] for side in (-1, 1))
    return f"{np.median(values):.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
