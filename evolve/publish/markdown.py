"""Somebody's words in a Markdown page.

Invariant: what passes here is one line of plain letters: it ends no table, opens no link, no tag and no code, and hides nothing."""

import re
from collections.abc import Iterable, Sequence

from evolve.sandbox.output import readable

_SPECIAL = re.compile(r"([\\`*_\[\]#|~$^])")
_CODE = re.compile(r"[A-Za-z0-9_./ =,:-]+")
_LONGEST = 300


def escaped(text: str, most: int = _LONGEST) -> str:
    """A text as it is shown in a page."""
    line = " ".join(readable(text.replace("\n", " ")).split())
    line = _SPECIAL.sub(r"\\\1", line if len(line) <= most else f"{line[:most]}...")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return line.replace("://", "&#58;//").replace("www.", "www&#46;")


def code(text: str) -> str:
    """A name or a path, in the letters of code where it has no others than such names have."""
    return f"`{text}`" if _CODE.fullmatch(text) and len(text) <= _LONGEST else escaped(text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are escaped already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
