"""Predict how warm a cup of coffee is.

The program defines `temperature(minutes)`, which gets a list of times in minutes and returns a list with the temperature at each of
them, in degrees Celsius. The largest difference to what was measured counts; smaller is better.
"""

# The keys of a task.toml, each of which may be left out (docs/task-file.md has all of them).
# /// evolve
# deterministic = true             # equal programs always get equal scores
#
# [fitness]
# name = "largest error"           # what the number is called
# direction = "min"                # smaller is better
# digits = 4
#
# [[axes]]                         # the best program of each of 10 cells is kept, not the best alone
# name = "start"                   # the descriptor that the evaluator returns below
# low = 60
# high = 100
# bins = 10
#
# [bound]
# value = 0.0                      # no error can be smaller: a program that claims one is put aside
# ///

import math

from evolve import Candidate, Evaluation, Trial, evaluator

# The program that the search begins with. A candidate gets what stands in the block and nothing else, so it imports for itself.
# EVOLVE-BLOCK-START
from math import exp


def temperature(minutes):
    return [25.0 + 50.0 * exp(-0.05 * minute) for minute in minutes]


# EVOLVE-BLOCK-END

MEASURED = {0: 84.0, 2: 76.3, 5: 67.0, 10: 55.6, 15: 47.4, 20: 41.3, 30: 33.3, 45: 26.9, 60: 24.1}


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The program runs in a process of its own; here its answer is checked, then scored."""
    answer = candidate.call("temperature", list(MEASURED))
    if not isinstance(answer, list) or len(answer) != len(MEASURED):
        return Evaluation.invalid(f"temperature() must return a list of {len(MEASURED)} numbers")
    if not all(type(value) is float and math.isfinite(value) for value in answer):
        return Evaluation.invalid("temperature() must return finite numbers")
    errors = {minute: value - MEASURED[minute] for minute, value in zip(MEASURED, answer, strict=True)}
    worst = max(errors, key=lambda minute: abs(errors[minute]))
    return Evaluation.ok(
        fitness=abs(errors[worst]),
        descriptors={"start": answer[0]},
        feedback=f"The largest error is {errors[worst]:+.3f} degrees, after {worst} minutes.",
    )
