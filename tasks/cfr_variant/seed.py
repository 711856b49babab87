"""Counterfactual regret minimisation: what was regretted most is played most, and every iteration counts alike in the average.

The numbers say how much of the regrets is kept from one iteration to the next, how much the last ones count once more, and how the weight grows."""

import numpy as np


def regret_update(R, r, t, state):
    """The sums of regrets, where positive and negative ones may fade."""
    return np.where(R > 0, 1.0 * R, 1.0 * R) + r


def policy(R, r_pred, t, state):
    """In proportion to the positive regrets; the judge divides by their sum, and where all are 0 every action is played alike."""
    return np.maximum(R + 0.0 * r_pred, 0)


def average_weight(t, own_reach, state):
    """How much iteration t counts."""
    return t**0.0
