"""26 circles in the unit square: a grid of five by five, and a small circle in one of its gaps."""


def centres():
    """The centres [x, y] of the circles; the judge finds the best radii for them."""
    return [
        [0.1, 0.1],
        [0.3, 0.1],
        [0.5, 0.1],
        [0.7, 0.1],
        [0.9, 0.1],
        [0.1, 0.3],
        [0.3, 0.3],
        [0.5, 0.3],
        [0.7, 0.3],
        [0.9, 0.3],
        [0.1, 0.5],
        [0.3, 0.5],
        [0.5, 0.5],
        [0.7, 0.5],
        [0.9, 0.5],
        [0.1, 0.7],
        [0.3, 0.7],
        [0.5, 0.7],
        [0.7, 0.7],
        [0.9, 0.7],
        [0.1, 0.9],
        [0.3, 0.9],
        [0.5, 0.9],
        [0.7, 0.9],
        [0.9, 0.9],
        [0.2, 0.2],
    ]
