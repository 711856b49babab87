"""CFR+ (Tammelin 2014, https://arxiv.org/abs/1407.5042): no regret is below zero, and later iterations count more."""

import numpy as np


def regret_update(R, r, t, state):
    return np.maximum(R + r, 0)


def policy(R, r_pred, t, state):
    return R


def average_weight(t, own_reach, state):
    return t - 1.0
