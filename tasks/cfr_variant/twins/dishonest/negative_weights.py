"""Takes later policies out of the average again."""

import numpy as np


def regret_update(R, r, t, state):
    return R + r


def policy(R, r_pred, t, state):
    return np.maximum(R, 0)


def average_weight(t, own_reach, state):
    return 1.0 if t % 2 else -0.5
