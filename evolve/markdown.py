"""Markdown of words that somebody else wrote: one line of plain letters, which ends no table, opens no link, tag or code, and hides nothing."""

import re
from collections.abc import Iterable, Sequence

from evolve.sandbox.output import readable

_SPECIAL = re.compile(r"([\\`*_\[\]#|~$^])")
_CODE = re.compile(r"[A-Za-z0-9_./ =,:'\"*\[\]-]+")
_LONGEST = 300


def escape(text: str, most: int = _LONGEST) -> str:
    """Returns a text as one line of a page, of at most `most` characters."""
    line = " ".join(readable(text.replace("\n", " ")).split())
    line = _SPECIAL.sub(r"\\\1", line if len(line) <= most else f"{line[:most]}...")
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A bare address would become a link.
    return line.replace("://", "&#58;//").replace("www.", "www&#46;")


def format_code(text: str) -> str:
    """Returns a name, a path or a command in the letters of code; escaped where it has other characters than such texts have."""
    return f"`{text}`" if _CODE.fullmatch(text) and len(text) <= _LONGEST else escape(text)


def format_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table; its cells are escaped already."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
