"""Takes ten times as long as it may."""

import time


def pack(n, limit, seed):
    time.sleep(10.0 * limit)
    return [[0.5, 0.5]] * n
