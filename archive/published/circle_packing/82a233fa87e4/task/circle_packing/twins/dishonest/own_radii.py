"""Says how large its circles are."""


def centres():
    return [[0.1 + 0.8 * place / 25, 0.5, 0.5] for place in range(26)]
