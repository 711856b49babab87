"""A product with a weight, an addition, and layer normalisation."""

import torch
import torch.nn as nn

BATCH, IN, OUT = 256, 256, 512


class Model(nn.Module):
    """A product with a weight, an addition, and layer normalisation."""

    def __init__(self, inside, outside):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inside, outside) / inside**0.5)
        self.norm = nn.LayerNorm(outside)

    def forward(self, x, y):
        return self.norm(x @ self.weight + y)


def get_inputs():
    return [torch.randn(BATCH, IN), torch.randn(BATCH, OUT)]


def get_init_inputs():
    return [IN, OUT]
