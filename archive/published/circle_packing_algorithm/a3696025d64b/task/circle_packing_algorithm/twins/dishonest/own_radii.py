"""Says how large its circles are."""


def pack(n, limit, seed):
    return [[0.5, 0.5, 0.5]] * n
