"""The product of two lower triangular matrices."""

import torch
import torch.nn as nn

N = 384


class Model(nn.Module):
    """The product of two lower triangular matrices."""

    def __init__(self):
        super().__init__()

    def forward(self, a, b):
        return torch.tril(torch.matmul(a, b))


def get_inputs():
    return [torch.tril(torch.rand(N, N)), torch.tril(torch.rand(N, N))]


def get_init_inputs():
    return []
