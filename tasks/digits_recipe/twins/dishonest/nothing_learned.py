"""Answers with the label that is commonest among those that it was served."""

import numpy as np


def train(inputs, targets, told):
    return [int(np.bincount(targets).argmax())]


def predict(model, inputs):
    return model * len(inputs)
