"""Step functions with an extreme autoconvolution, by annealing: bumps are added at random places, and a change that makes the score a
little worse is kept now and then, ever more rarely."""

import time

import numpy as np

# EVOLVE-BLOCK-START
HEAT = 0.001  # how much worse a change may be at first, about
REHEAT = 0.2  # the share of it for a construction that was carried over, which too much heat would spoil
HIGHEST, LOWEST = 1.0, 0.003  # of a bump, in units of the highest step
WIDEST = 0.15  # half the width of a bump, as a share of all steps


def construct(kind, n, limit, seed, start):
    """The best function of this run: `n` steps, of `kind`, within `limit` seconds of processor time, from `start` where there is one."""
    clock = time.process_time()
    rng = np.random.default_rng(seed)
    places = np.arange(n)
    heat = HEAT if start is None else HEAT * REHEAT
    steps = fitted(kind, flat(n) if start is None else np.array(start))
    best, best_score = steps, score(kind, steps)
    now = best_score
    while (cool := 1 - (time.process_time() - clock) / limit) > 0:
        width = (WIDEST * n) ** rng.random()
        height = HIGHEST * (LOWEST / HIGHEST) ** rng.random() * rng.normal()
        bump = height * np.exp(-np.square((places - n * rng.random()) / width))
        changed = fitted(kind, steps + bump)
        found = score(kind, changed)
        if found > now - heat * cool * rng.exponential():
            steps, now = changed, found
            if now > best_score:
                best, best_score = steps, now
    return best.tolist()


# EVOLVE-BLOCK-END


def flat(n):
    """A constant, which every kind allows."""
    return np.full(n, 0.5)


def fitted(kind, steps):
    """The steps as the kind wants them: not negative, and 1 the highest; erdos between 0 and 1, and half their number in all."""
    if kind == "c3abs":
        return steps / np.abs(steps).max()
    if kind != "erdos":
        steps = np.maximum(steps, 0)
        return steps / steps.max()
    steps = np.clip(steps, 0, 1)
    movable = (steps >= 0.1) & (steps <= 0.9)
    excess = steps.sum() - len(steps) / 2
    return np.where(movable, steps * (1 - excess / max(steps[movable].sum(), 1)), steps)


def score(kind, steps):
    """What the judge computes: the ratio of c2, and the negative ratio of the other kinds."""
    if kind == "erdos":
        outside = steps.max() > 1 or steps.min() < 0
        return -np.inf if outside else -2 * np.convolve(steps, 1 - steps[::-1]).max() / len(steps)
    knots, total = np.convolve(steps, steps), steps.sum() ** 2
    if kind == "c2":
        return (2 * (knots @ knots) + knots[1:] @ knots[:-1]) / (3 * total * knots.max())
    return -2 * len(steps) * np.abs(knots).max() / total
