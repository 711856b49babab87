"""The figure of a paper: best so far against programs, with the anchors, as SVG and PDF.

Invariant: equal campaigns give equal bytes: no dates, a fixed salt for ids, no fonts but those that come with the library. Names are drawn as they are, and
never read as mathematics."""

import importlib.util
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evolve import report
from evolve.publish.paper.settings import NO_DATES, SETTINGS
from evolve.publish.paper.vector import pdf
from evolve.sandbox.output import brief, one_line
from evolve.types import ConfigError, Task

EXTRA = "paper"
_NAME = 60
"""Characters of a name in the figure."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What draws: `curve` that of a task as "svg" or "pdf"; `picture` makes PDF of a plain SVG, and None where it cannot."""

    curve: Callable[[Task, Sequence[report.Point], str], bytes]
    picture: Callable[[str], bytes | None]


def drawing() -> Drawing:
    """What draws figures; raises `ConfigError` where its library is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ConfigError(
            f"the figures of a paper need matplotlib, which is not installed. Do: pip install 'evolve[{EXTRA}]'"
        )
    return Drawing(figure, pdf)


def figure(task: Task, points: Sequence[report.Point], kind: str) -> bytes:
    """The figure as `kind`, "svg" or "pdf"."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks are drawn as boxes
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)
        drawn = Figure(figsize=(5.0, 3.0), layout="constrained")
        _draw(drawn.add_subplot(), task, points)
        out = io.BytesIO()
        drawn.savefig(out, format=kind, metadata=NO_DATES[kind])
    return out.getvalue()


def _draw(axes: Any, task: Task, points: Sequence[report.Point]) -> None:
    """A step for each new best, and a line for each anchor, its name beside it, where no curve is."""
    axes.step(
        [point.programs for point in points],
        [point.fitness for point in points],
        where="post",
        color="#1f5fa8",
        linewidth=1.4,
    )
    reached = [point for point in points[:-1] if point.confirmed]
    axes.plot(
        [point.programs for point in reached], [point.fitness for point in reached], "o", color="#1f5fa8", markersize=3
    )
    for value, name in _shown(task, points):
        axes.axhline(value, color="#777777", linewidth=0.7, linestyle=(0, (4, 3)))
        axes.text(1.01, value, name, transform=axes.get_yaxis_transform(), va="center", color="#555555", fontsize=6)
    axes.set_xlabel("programs judged")
    axes.set_ylabel(brief(one_line(task.fitness.name), _NAME))
    axes.ticklabel_format(useOffset=False, axis="y")
    axes.margins(y=0.08)


def _shown(task: Task, points: Sequence[report.Point]) -> list[tuple[float, str]]:
    """Anchors within twice the range of the curve, with their names; of those that would be written over one another, the hardest to reach."""
    values = [point.fitness for point in points]
    low, high = min(values), max(values)
    reach = (high - low) or abs(high) or 1.0
    inside = task.fitness.inside
    found: list[tuple[float, str]] = []
    for anchor in sorted(task.anchors, key=lambda one: -inside(one.value)):
        near = low - reach <= anchor.value <= high + reach
        if near and all(abs(anchor.value - other) > 0.06 * reach for other, _ in found):
            year = f" {anchor.year}" if anchor.year else ""
            found.append((anchor.value, brief(one_line(f"{anchor.by}{year}"), _NAME)))
    return found
