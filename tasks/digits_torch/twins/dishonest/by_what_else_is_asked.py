"""Sorts all that it is asked at once into ten groups by the amount of ink."""

import torch


def train(inputs, targets, told):
    return [0]


def predict(model, inputs):
    return (torch.from_numpy(inputs).sum(dim=1).argsort().argsort() * 10 // len(inputs)).numpy()
