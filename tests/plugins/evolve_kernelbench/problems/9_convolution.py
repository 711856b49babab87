"""A convolution of images with a square kernel."""

import torch
import torch.nn as nn

BATCH, IN, OUT, SIDE = 4, 8, 16, 64


class Model(nn.Module):
    """A convolution of images with a square kernel."""

    def __init__(self, inside, outside, kernel):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, kernel)

    def forward(self, x):
        return self.conv(x)


def get_inputs():
    return [torch.rand(BATCH, IN, SIDE, SIDE)]


def get_init_inputs():
    return [IN, OUT, 3]
