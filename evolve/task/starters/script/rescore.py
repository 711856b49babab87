"""Computes the score from what the script has saved. It runs in the worker, where programs cannot see it: nothing that they say is believed."""

import math

from evolve.evaluators import Unreadable, finite, read_json


def rescore(files, trial):
    """The root of the mean squared error. What is saved is a claim until it is checked: its form first, then its numbers."""
    predictions = read_json(files["predictions.json"])
    count = trial.parameters.questions
    if not isinstance(predictions, list) or len(predictions) != count:
        raise Unreadable(f"predictions.json must be a list of {count} numbers")
    places = [index / (count - 1) for index in range(count)]
    errors = [finite(prediction) - curve(place) for prediction, place in zip(predictions, places, strict=True)]
    if not all(abs(error) < 1e6 for error in errors):
        raise Unreadable("predictions must be smaller than a million")
    return math.sqrt(math.fsum(error * error for error in errors) / count)


def curve(x):
    """What the programs are to find out."""
    return math.sin(5.0 * x) + 0.5 * x
