"""Best fit, where a bin that would keep a little room that hardly any item fits into must wait."""

import numpy as np


def score(item, residual):
    left = (residual - item).astype(float)
    return np.where((left > 0) & (left < 12), -100.0, 0.0) - left
