"""A linear layer, GELU, and a factor."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, IN, OUT, FACTOR = 128, 512, 512, 0.5


class Model(nn.Module):
    """A linear layer, GELU, and a factor."""

    def __init__(self, inside, outside, factor):
        super().__init__()
        self.linear = nn.Linear(inside, outside)
        self.factor = factor

    def forward(self, x):
        return F.gelu(self.linear(x)) * self.factor


def get_inputs():
    return [torch.randn(BATCH, IN)]


def get_init_inputs():
    return [IN, OUT, FACTOR]
