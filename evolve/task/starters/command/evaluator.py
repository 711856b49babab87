"""Judges a program that is run as a command: hands it the jobs, checks the orders that it prints, and computes the lateness here."""

import json
import math
import random
import sys

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The mean weighted lateness. Days come from the task; whatever the program prints is a claim until it is checked."""
    count, first = trial.parameters.jobs, trial.parameters.first
    days = [day(first + index, count) for index in range(trial.parameters.days)]
    done = candidate.run([sys.executable, "main.py"], input=json.dumps(days))
    if done.code != 0:
        return Evaluation.invalid(f"main.py ended with code {done.code}:\n{done.stderr[-1000:]}")
    orders = read(done.stdout)
    if not is_orders(orders, days):
        return Evaluation.invalid(f"main.py must print a list with one order for each of {len(days)} days")
    late = [value for jobs, order in zip(days, orders, strict=True) for value in lateness(jobs, order)]
    weights = [jobs[place]["weight"] for jobs, order in zip(days, orders, strict=True) for place in order]
    return Evaluation.ok(
        fitness=math.fsum(weight * value for weight, value in zip(weights, late, strict=True)) / len(late),
        descriptors={"late": sum(value > 0 for value in late) / len(late)},
        metrics={"latest": max(late)},
    )


def day(seed: int, count: int) -> list[dict[str, float]]:
    """The jobs of a day; equal seeds give equal days."""
    rng = random.Random(seed)
    durations = [rng.randint(1, 20) for _ in range(count)]
    total = sum(durations)
    return [
        {"duration": duration, "due": round(total * rng.uniform(0.1, 0.7)), "weight": rng.randint(1, 10)}
        for duration in durations
    ]


def read(text: str) -> object:
    """What was printed as JSON; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_orders(orders: object, days: list[list[dict[str, float]]]) -> bool:
    """For each day, every place exactly once; `True` and 1.0 are no places."""
    if not isinstance(orders, list) or len(orders) != len(days):
        return False
    whole = all(isinstance(order, list) and all(type(place) is int for place in order) for order in orders)
    return whole and all(sorted(order) == list(range(len(jobs))) for order, jobs in zip(orders, days, strict=True))


def lateness(jobs: list[dict[str, float]], order: list[int]) -> list[float]:
    """By how much each job is late, in the order in which they are done."""
    now, late = 0.0, []
    for place in order:
        now += jobs[place]["duration"]
        late.append(max(0.0, now - jobs[place]["due"]))
    return late
