"""First fit: every item goes into the first bin that can take it."""

import numpy as np


def score(item, residual):
    return -np.arange(len(residual))
