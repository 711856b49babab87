import numpy as np

# EVOLVE-BLOCK-START
WEIGHT = 1.0


def priority(item, bins):
    """The larger, the sooner the bin is used."""
    rest = bins - item
    return -WEIGHT * rest
# EVOLVE-BLOCK-END


def pack(items, capacity):
    bins = np.full(len(items), capacity)
    for item in items:
        fits = np.flatnonzero(bins >= item)
        best = fits[np.argmax(priority(item, bins[fits]))]
        bins[best] -= item
    return (bins < capacity).sum()
