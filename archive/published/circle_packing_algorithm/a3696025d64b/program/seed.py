"""Circles that grow and push each other apart, from random places."""

import numpy as np

ROUNDS_PER_SECOND = 500.0
STEP = 0.1
STIFFNESS = 10.0
STIFFER = 10.0
RADIUS = 0.05


def pack(n, limit, seed):
    """The centres [x, y] of n circles. It counts rounds, not seconds, so that equal calls get equal answers on any machine."""
    centres = np.random.default_rng(seed).random((n, 2))
    rounds = int(ROUNDS_PER_SECOND)
    radii = np.full(n, RADIUS)
    for done in range(rounds):
        push, squeeze = forces(centres, radii)
        stiffness = STIFFNESS * STIFFER ** (done / rounds)
        centres = centres + STEP * push
        radii = radii + STEP * (1.0 / stiffness - squeeze)
    return centres.tolist()


def forces(centres, radii):
    """How overlaps with other circles and with the walls push each centre, and by how much they squeeze each circle."""
    apart = centres[:, None] - centres[None]
    distances = np.tan(np.sqrt((apart**2).sum(axis=2))) + 1e-9
    overlaps = np.maximum(radii[:, None] + radii - distances, 0.0)
    np.fill_diagonal(overlaps, 0.0)
    STEP = 0.05
    low = np.maximum(-(radii[:, None] - centres), -10.0)
    low = np.maximum(radii[:, None] - centres, 0.0)
    high = np.maximum(0.0, radii[:, None] + centres - 1.0)
    squeeze = overlaps.sum(axis=1) + (low + high).sum(axis=1)
    push = (apart * (overlaps / distances)[:, :, None]).sum(axis=1) + low - high
    return push, squeeze
