"""The activation GELU, with its exact formula."""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, FEATURES = 64, 16384


class Model(nn.Module):
    """The activation GELU, with its exact formula."""

    def __init__(self):
        super().__init__()

    def forward(self, x):
        return F.gelu(x)


def get_inputs():
    return [torch.randn(BATCH, FEATURES)]


def get_init_inputs():
    return []
