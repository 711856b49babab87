"""The square root, as a parabola."""


def root(xs):
    return [0.4 + 0.65 * x - 0.06 * x * x for x in xs]
