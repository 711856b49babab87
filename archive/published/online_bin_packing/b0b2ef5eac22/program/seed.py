"""Best fit: every item goes where it leaves the least room."""

import numpy as np


def score(item, residual):
    """One number per bin, of which the largest wins. What is added to best fit, by the share of the room that the item takes, weighs nothing yet."""
    return np.tanh(-0.8923791317147309 * (residual - item)) - (-0.12642809414988213 + 0.1263103059724911 * item / (residual - 0.15082123330760677 * item / residual / residual)) * item / residual
