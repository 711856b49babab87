"""A convolution, ReLU, and averages of squares."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, IN, OUT, SIDE = 4, 8, 16, 64


class Model(nn.Module):
    """A convolution, ReLU, and averages of squares."""

    def __init__(self, inside, outside, kernel):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, kernel)

    def forward(self, x):
        return F.avg_pool2d(torch.relu(self.conv(x)), 2)


def get_inputs():
    return [torch.randn(BATCH, IN, SIDE, SIDE)]


def get_init_inputs():
    return [IN, OUT, 3]
