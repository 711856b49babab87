"""Says what its steps are worth."""


def construct(kind, n, limit, seed, start):
    return {"steps": [0.5] * n, "ratio": 0.97}
