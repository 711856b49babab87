"""A GPU for each model, as if there were as many."""


def place(gpus, models):
    return list(range(len(models)))
