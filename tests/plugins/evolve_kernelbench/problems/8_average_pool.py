"""Averages of squares of an image."""

import torch
import torch.nn as nn

BATCH, CHANNELS, SIDE = 8, 16, 128


class Model(nn.Module):
    """Averages of squares of an image."""

    def __init__(self, kernel):
        super().__init__()
        self.pool = nn.AvgPool2d(kernel, stride=1)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, SIDE, SIDE)]


def get_init_inputs():
    return [3]
