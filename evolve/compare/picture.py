"""The picture of a comparison: how good each arm was when, with the band in which its middle lies.

Invariant: pure; names are escaped by the drawing."""

from evolve.compare.comparison import Comparison
from evolve_view.charts import Reference, Series, chart


def picture(found: Comparison) -> str:
    """One `<svg>`, for a page."""
    series = [Series(band.arm, band.places, band.middle, band.low, band.high, step=True) for band in found.bands]
    levels = [Reference(value, name) for value, name in found.anchors]
    return chart(series, x=found.per, y=found.fitness.name, levels=levels, height=360)
