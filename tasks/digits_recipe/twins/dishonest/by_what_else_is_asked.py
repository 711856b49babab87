"""Sorts all that it is asked at once into ten groups by the amount of ink."""


def train(inputs, targets, told):
    return [0]


def predict(model, inputs):
    return inputs.sum(axis=1).argsort().argsort() * 10 // len(inputs)
