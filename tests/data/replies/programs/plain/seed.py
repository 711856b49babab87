"""Points on a line, spread apart."""

import numpy as np

STEP = 0.05
ROUNDS = 200


def push(points):
    """How far each point moves."""
    apart = points[:, None] - points[None]
    return np.sign(apart).sum(axis=1)


def spread(n, seed):
    points = np.random.default_rng(seed).random(n)
    for _ in range(ROUNDS):
        points = points + STEP * push(points)
    return points.tolist()
