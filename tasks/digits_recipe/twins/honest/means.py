"""Takes for each image the class whose mean image is nearest; labels as a list of whole numbers."""

import numpy as np


def train(inputs, targets, told):
    return [inputs[targets == label].mean(axis=0).tolist() for label in range(told["classes"])]


def predict(model, inputs):
    apart = inputs[:, None, :] - np.array(model, dtype=np.float32)[None, :, :]
    return (apart**2).sum(axis=2).argmin(axis=1).tolist()
