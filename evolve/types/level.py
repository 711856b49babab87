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

    @classmethod
    def of(cls, isolation: str) -> "Level | None":
        """The level that a recorded line begins with (`standard: landlock 7, seccomp, memory watched`); None where it begins with none."""
        word = isolation.partition(":")[0]
        return cls(word) if word in set(cls) else None
