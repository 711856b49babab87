"""A dome, as any kind allows it: from 0 to 1, and half of all in all."""


def construct(kind, n, limit, seed, start):
    steps = [1.0 - ((2.0 * place + 1.0) / n - 1.0) ** 2 for place in range(n)]
    return [0.75 * step for step in steps]
