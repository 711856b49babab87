"""From two programs to the edit that leads from one to the other."""

from evolve.types import Program


def diff(old: Program, new: Program) -> str:
    """SEARCH/REPLACE text such that `read(diff(old, new), old)` gives `new`."""
    return ""
