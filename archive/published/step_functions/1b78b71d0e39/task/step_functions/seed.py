"""Step functions with an extreme autoconvolution: bumps are added at random places, and kept where the score grows.

The maximum of an autoconvolution is reached at many places at once, and hardly any bump lowers all of them. So the search goes by a softer
maximum, which every high place adds to; what it returns is the best by the true one."""

import time

import numpy as np

# EVOLVE-BLOCK-START
SHARPNESS = 300.0  # of the softer maximum: the larger, the nearer to the true one
HEAT = 3e-5  # how much worse a change may be at first, about; it cools down to 0
HIGHEST, LOWEST = 1.0, 0.003  # of a bump, in units of the highest step
WIDEST = 0.05  # half the width of a bump, as a share of all steps
FRESH = 0.2  # how often a run begins with a constant all the same, since what was carried may have come to a dead end


def construct(kind, n, limit, seed, start):
    """The best function of this run: `n` steps, of `kind`, within `limit` seconds of processor time, mostly from `start`."""
    clock = time.process_time()
    rng = np.random.default_rng(seed)
    places = np.arange(n)
    anew = rng.random() < FRESH or start is None
    steps = fitted(kind, flat(n) if anew else np.array(start))
    best, best_score = steps, score(kind, steps, np.max)
    now = score(kind, steps, soft)
    while (cool := 1 - (time.process_time() - clock) / limit) > 0:
        width = (WIDEST * n) ** rng.random()
        height = HIGHEST * (LOWEST / HIGHEST) ** rng.random() * rng.normal()
        bump = height * np.exp(-np.square((places - n * rng.random()) / width))
        changed = fitted(kind, steps + bump)
        found = score(kind, changed, soft)
        if found > now - HEAT * cool * rng.exponential():
            steps, now = changed, found
            true = score(kind, steps, np.max)
            if true > best_score:
                best, best_score = steps, true
    return best.tolist()


def soft(heights):
    """The maximum, and a little more for every other height near it."""
    top = heights.max()
    return top * np.exp(SHARPNESS * (heights / top - 1)).sum() ** (1 / SHARPNESS)


# EVOLVE-BLOCK-END


def flat(n):
    """A constant, which every kind allows."""
    return np.full(n, 0.5)


def fitted(kind, steps):
    """The steps as the kind wants them: not negative, and 1 the highest; erdos between 0 and 1, and half their number in all."""
    if kind == "erdos":
        steps = np.clip(steps, 0, 1)
        movable = (steps >= 0.1) & (steps <= 0.9)
        excess = steps.sum() - len(steps) / 2
        return np.where(movable, steps * (1 - excess / max(steps[movable].sum(), 1)), steps)
    steps = steps if kind == "c3abs" else np.maximum(steps, 0)
    return steps / (np.abs(steps).max() or 1)


def score(kind, steps, peak):
    """What the judge computes, where `peak` is the maximum: the ratio of c2, and the negative ratio of the other kinds."""
    if kind == "erdos":
        outside = steps.max() > 1 or steps.min() < 0
        return -np.inf if outside else -2 * peak(np.convolve(steps, 1 - steps[::-1])) / len(steps)
    knots, total = np.convolve(steps, steps), steps.sum() ** 2
    if total == 0:
        return -np.inf
    if kind == "c2":
        return (2 * (knots @ knots) + knots[1:] @ knots[:-1]) / (3 * total * peak(knots))
    return -2 * len(steps) * peak(np.abs(knots)) / total
