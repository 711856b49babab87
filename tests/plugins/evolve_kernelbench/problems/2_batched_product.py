"""Products of two batches of matrices."""

import torch
import torch.nn as nn

BATCH, N = 16, 128


class Model(nn.Module):
    """Products of two batches of matrices."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.rand(BATCH, N, N), torch.rand(BATCH, N, N)]


def get_init_inputs():
    return []
