"""Remembers how often it was asked: equal questions get other answers later."""

asked = [0]


def score(item, residual):
    asked[0] += 1
    return (item - residual) * (-1.0 if asked[0] % 7 == 0 else 1.0)
