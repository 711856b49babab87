"""Steps that cancel, so that there is next to nothing to divide by."""


def construct(kind, n, limit, seed, start):
    return [1.0] + [-1.0 / n] * (n - 1)
