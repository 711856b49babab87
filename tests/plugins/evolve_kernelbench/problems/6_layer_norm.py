"""Layer normalisation over the last dimension."""

import torch
import torch.nn as nn

BATCH, FEATURES = 256, 4096


class Model(nn.Module):
    """Layer normalisation over the last dimension."""

    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.rand(BATCH, FEATURES)]


def get_init_inputs():
    return [FEATURES]
