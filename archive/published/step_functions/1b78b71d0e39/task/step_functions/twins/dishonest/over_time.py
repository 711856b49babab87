"""Uses six times the processor time that it may."""

import time


def construct(kind, n, limit, seed, start):
    while time.process_time() < 6.0 * limit:
        pass
    return [0.5] * n
