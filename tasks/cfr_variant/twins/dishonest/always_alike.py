"""Plays every action alike, whatever was regretted."""

import numpy as np


def regret_update(R, r, t, state):
    return R


def policy(R, r_pred, t, state):
    return np.ones(len(r_pred))


def average_weight(t, own_reach, state):
    return 1.0
