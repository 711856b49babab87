"""Always the same step, as an array."""

import numpy as np


def construct(kind, n, limit, seed, start):
    return np.full(n, 0.5)
