"""A linear classifier by the softmax, trained by plain gradient descent on batches."""

import numpy as np

EPOCHS = 8
BATCH = 32
RATE = 0.05
DECAY = 0.0001


def train(inputs, targets, told):
    rng = np.random.default_rng(told["seed"])
    pixels = inputs / 16.0
    truth = np.eye(told["classes"])[targets]
    weights = np.zeros((pixels.shape[1], told["classes"]))
    bias = np.zeros(told["classes"])
    for _ in range(EPOCHS):
        order = rng.permutation(len(pixels))
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            wrong = softmax(pixels[rows] @ weights + bias) - truth[rows]
            weights -= RATE * (pixels[rows].T @ wrong / len(rows) + DECAY * weights)
            bias -= RATE * wrong.mean(axis=0)
    return {"weights": weights, "bias": bias}


def predict(model, inputs):
    return (inputs / 16.0 @ model["weights"] + model["bias"]).argmax(axis=1)


def softmax(scores):
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    return grown / grown.sum(axis=1, keepdims=True)
