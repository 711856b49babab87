"""What an evaluation and a trial accept."""

import math

import numpy as np
import pytest

from evolve.types import Evaluation, Outcome, Parameters, Trial, UnusableFitness


@pytest.mark.parametrize("fitness", [math.nan, math.inf, -math.inf])
def test_a_fitness_is_finite(fitness):
    """And what is not says what it is, so that the judge can tell it from a mistake."""
    with pytest.raises(UnusableFitness) as caught:
        Evaluation.ok(fitness)
    assert repr(caught.value.fitness) == repr(fitness)


@pytest.mark.parametrize(
    ("fitness", "error"), [(True, TypeError), ("0.5", TypeError), (None, TypeError), (1j, TypeError)]
)
def test_a_fitness_is_a_number(fitness, error):
    """A truth value is none, nor is a text that reads like one."""
    with pytest.raises(error) as caught:
        Evaluation.ok(fitness)
    assert not isinstance(caught.value, UnusableFitness)


@pytest.mark.parametrize(("outcome", "fitness"), [(Outcome.OK, None), (Outcome.WRONG, 0.0)])
def test_a_fitness_is_set_exactly_when_the_outcome_is_ok(outcome, fitness):
    """A failure is a kind, never the number 0."""
    with pytest.raises(ValueError, match="exactly when the outcome is OK"):
        Evaluation(outcome, fitness=fitness)


def test_parameters_are_read_as_attributes():
    """An unknown one names those that there are."""
    parameters = Parameters(n=26, name="x")
    assert (parameters.n, parameters.name) == (26, "x")
    with pytest.raises(AttributeError, match="no parameter 'm' in this task; it has n, name"):
        _ = parameters.m
    with pytest.raises(AttributeError, match="it has none"):
        _ = Parameters().n


@pytest.mark.parametrize(
    "tagged",
    [
        Evaluation.ok(1.0, tag="late write"),
        Evaluation.wrong("no", tag="late write"),
        Evaluation.invalid("no", tag="late write"),
    ],
)
def test_any_outcome_may_be_tagged(tagged):
    """The tag is beside the outcome, and changes nothing of it."""
    assert tagged.tag == "late write"
    assert (tagged.fitness is not None) == (tagged.outcome is Outcome.OK)


def test_what_is_drawn_depends_on_secret_seed_and_key():
    """Each has a stream of its own, and equal ones draw the same."""
    trials = [Trial(seed, secret=secret) for secret in ("one", "two") for seed in (0, 1)]
    drawn = [trial.entropy(*key) for trial in trials for key in ((), (1,), (1, 0), (0, 1))]
    assert len(set(drawn)) == len(drawn)
    assert Trial(1, secret="two").entropy(0, 1) == Trial(1, secret="two").entropy(*np.arange(2)) == drawn[-1]


def test_without_a_secret_draws_are_public():
    """As those of campaigns whose logs have none."""
    assert (Trial(7).entropy(), Trial(7).entropy(1, 2)) == ((7,), (7, 1, 2))


def test_the_secret_is_in_no_message():
    """An evaluator may show a trial."""
    assert "1f2e" not in repr(Trial(secret="1f2e"))
