"""The paper of one chart: two axes, and the two marks that everything is made of.

Invariant: every colour is named by what it is for, in the attribute and in the class."""

from dataclasses import dataclass

from evolve.drawing.elements import element, escaped
from evolve.drawing.ink import ink as paint
from evolve.drawing.scale import Scale

LETTER = 6.9
DIGIT = 7.5
"""How wide a character of a name, and a digit, is about in the font of a chart."""
ROW = 18
"""From one line of text to the next."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The two axes of one chart; `across` and `up` are the scales of x and y."""

    across: Scale
    up: Scale
    width: float
    height: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        return self.across.place(x), self.up.place(y)

    def text(self, told: str, x: float, y: float, *, ink: str = "faint", anchor: str | None = None) -> str:
        """A line of text, its baseline at `y`."""
        return element("text", escaped(told), x=x, y=y, fill=paint(ink), class_=f"f-{ink}", text_anchor=anchor)

    def rule(
        self, ends: tuple[float, float, float, float], ink: str, dash: str | None = None, thick: float | None = None
    ) -> str:
        """A straight line."""
        x1, y1, x2, y2 = ends
        place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke_width": thick}
        return element("line", **place, stroke=paint(ink), class_=f"s-{ink}", stroke_dasharray=dash)
