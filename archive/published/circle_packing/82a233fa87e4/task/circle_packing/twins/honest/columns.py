"""The seed's grid in another order: columns for rows, and the small circle first."""

PLACES = [0.1, 0.3, 0.5, 0.7, 0.9]


def centres():
    return [[0.2, 0.2], *([x, y] for x in PLACES for y in PLACES)]
