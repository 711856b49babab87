"""Best fit: every item goes where it leaves the least room."""


def score(item, residual):
    """One number per bin, of which the largest wins. The two terms that weigh nothing yet see how much of the bin's room the item takes."""
    return 1.0 / (1.0 + residual - item) + 0.0 * (item / residual) + 0.0 * (item / residual) ** 2.0
