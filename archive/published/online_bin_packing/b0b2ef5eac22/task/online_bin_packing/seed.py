"""Best fit: every item goes where it leaves the least room."""

import numpy as np


def score(item, residual):
    """One number per bin, of which the largest wins. What is added to best fit, by the share of the room that the item takes, weighs nothing yet."""
    return np.exp(-1.0 * (residual - item)) + (0.0 + 0.0 * item / residual) * item / residual
