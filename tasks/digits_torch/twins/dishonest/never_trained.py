"""Keeps the weights that it was born with."""

import torch


def train(inputs, targets, told):
    torch.manual_seed(told["seed"])
    return torch.nn.Linear(64, told["classes"]).weight.detach().numpy()


def predict(model, inputs):
    return (torch.from_numpy(inputs) @ torch.from_numpy(model).T).argmax(dim=1).numpy()
