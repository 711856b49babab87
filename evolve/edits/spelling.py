"""What models do to the spelling of code, undone where it is certain: blanks that do not break, numbers before lines, HTML.

Invariant: text that needs nothing undone comes back equal."""

import html
import re
from collections.abc import Sequence

from evolve.edits.answer import Lines

_BLANKS = str.maketrans(dict.fromkeys("\u00a0\u2007\u202f\u2002\u2003\u2009", " ") | dict.fromkeys("\ufeff\u200b"))
_MARGIN = re.compile(r"[ \t\u00a0\u2007\u202f\u2002\u2003\u2009\ufeff\u200b]*")
_NUMBERED = re.compile(r"[ \t]{0,12}(?P<number>\d{1,6})(?:[ \t]?[|:│]|\t)(?: (?P<rest>.*)|(?P<tight>.*))")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#39|#x27|#34);")
_RAW_OPENING = re.compile(r"^[ \t]*<{5,9} ?(?:SEARCH|ORIGINAL)", re.MULTILINE)
_OPENING = re.compile(r"^[ \t]*(?:&lt;){5,9} ?(?:SEARCH|ORIGINAL)", re.MULTILINE)


def plain(line: str) -> str:
    """A line with ordinary blanks alone, and no white space behind."""
    return (line if line.isascii() else line.translate(_BLANKS)).rstrip()


def mended(lines: Sequence[str]) -> Lines:
    """Lines whose blanks are ordinary ones: all that they begin with, and those in a line without a quote: in a string
    they may be meant."""
    return tuple(_mended(line) for line in lines)


def unnumbered(lines: Sequence[str]) -> Lines | None:
    """The lines without the numbers that were copied with them; None where not every line has the next number."""
    found = [_NUMBERED.fullmatch(line) for line in lines if line.strip()]
    numbers = [int(match["number"]) for match in found if match]
    if not numbers or len(numbers) < len(found) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    rest = iter([match["rest"] if match["rest"] is not None else match["tight"] for match in found if match])
    return tuple(next(rest) if line.strip() else line for line in lines)


def has_numbers(lines: Sequence[str]) -> bool:
    """Whether any line begins as one that was copied with its number."""
    return any(_NUMBERED.fullmatch(line) for line in lines)


def unescaped(text: str) -> str:
    """A text without HTML's spelling of `<`, `>`, `&` and quotes."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)


def has_entities(lines: Sequence[str]) -> bool:
    """Whether there is anything for `unescaped`, and no character that it would have been for."""
    return any(_ENTITY.search(line) for line in lines) and not any("<" in line or ">" in line for line in lines)


def decoded(reply: str) -> str:
    """A reply whose markers themselves are spelled in HTML, as it was meant; any other as it is."""
    return unescaped(reply) if _OPENING.search(reply) and not _RAW_OPENING.search(reply) else reply


def _mended(line: str) -> str:
    if line.isascii():
        return line
    end = _MARGIN.match(line)
    margin = end.end() if end else 0
    rest = line[margin:]
    return line[:margin].translate(_BLANKS) + (rest if '"' in rest or "'" in rest else rest.translate(_BLANKS))
