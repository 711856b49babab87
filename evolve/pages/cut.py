"""How much of a long text a document holds.

Invariant: what is left out is counted."""

LINES = 1_500
"""Lines of a program's file."""
CHANGED = 300
"""Lines of a diff."""
CHARACTERS = 400
"""Characters of a line."""
WORDS = 12_000
"""Characters of somebody else's words."""


def line(text: str, most: int = CHARACTERS) -> str:
    """The beginning of a line, and how much more there is."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def lines(text: str, most: int) -> tuple[list[str], int]:
    """The first lines of a text, and how many more there are. Only line feeds end a line: what else a program has there is part of it."""
    found = text.split("\n")
    if found and not found[-1]:
        found.pop()
    return found[:most], max(0, len(found) - most)


def words(text: str) -> str:
    """The beginning of a text, and how much more there is."""
    return text if len(text) <= WORDS else f"{text[:WORDS]}\n… ({len(text) - WORDS:,} more characters)"
