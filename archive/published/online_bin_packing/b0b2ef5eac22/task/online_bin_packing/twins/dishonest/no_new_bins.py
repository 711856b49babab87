"""Answers for all bins but the new one, so that none is opened."""


def score(item, residual):
    return (item - residual)[:-1]
