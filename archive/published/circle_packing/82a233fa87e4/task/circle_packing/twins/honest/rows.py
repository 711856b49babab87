"""Five rows of five and six, each moved against the one before it."""

ROWS = (5, 5, 6, 5, 5)


def centres():
    found = []
    for row, count in enumerate(ROWS):
        y = (row + 0.5) / len(ROWS)
        found += [((place + 0.5) / count, y) for place in range(count)]
    return found
