"""Best fit, in whole numbers."""


def score(item, residual):
    return item - residual
