"""The seed's rule with its regrets in another form: the sums lie in the state, and positive regrets are divided by the sum of their set."""

import numpy as np


def regret_update(R, r, t, state):
    state.sums = r + getattr(state, "sums", np.zeros(len(r)))
    return state.sums.copy()


def policy(R, r_pred, t, state):
    positive = np.maximum(R, 0.0)
    sums = np.add.reduceat(positive, state.first)[state.infoset]
    return np.divide(positive, sums, out=np.zeros(len(positive)), where=sums > 0.0)


def average_weight(t, own_reach, state):
    return np.ones(len(state.first))
