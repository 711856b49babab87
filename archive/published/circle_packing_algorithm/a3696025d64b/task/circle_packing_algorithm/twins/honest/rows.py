"""Rows of circles, for any number of them; the last ones have more room. The seed and the time are not needed."""


def pack(n, limit, seed):
    rows = max(1, round(n**0.5))
    counts = [n // rows + (row < n % rows) for row in range(rows)]
    return [((place + 0.5) / count, (row + 0.5) / rows) for row, count in enumerate(counts) for place in range(count)]
