"""A diagonal matrix times a matrix, as a full product."""

import torch
import torch.nn as nn

N = 384


class Model(nn.Module):
    """A diagonal matrix times a matrix, as a full product."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.diag(a) @ b


def get_inputs():
    return [torch.rand(N), torch.rand(N, N)]


def get_init_inputs():
    return []
