"""How well candidates are kept apart from everything else.

Invariant: the levels are ordered, and a level promises all that the ones below it promise."""

from enum import StrEnum


class Level(StrEnum):
    """From `strict` (hostile programs, measured by the corpus) to `none` (nothing is promised); `docs/sandbox.md` tells what each
    promises."""

    NONE = "none"
    REDUCED = "reduced"
    STANDARD = "standard"
    STRICT = "strict"

    def reaches(self, wanted: "Level") -> bool:
        """Whether this level is `wanted` or better."""
        order = list(Level)
        return order.index(self) >= order.index(wanted)
