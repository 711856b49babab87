"""Sums along one dimension."""

import torch
import torch.nn as nn

BATCH, ONE, TWO = 16, 256, 256


class Model(nn.Module):
    """Sums along one dimension."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.rand(BATCH, ONE, TWO)]


def get_init_inputs():
    return []
