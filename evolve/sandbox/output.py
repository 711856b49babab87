"""Output of candidates, made fit to be read by people, terminals and models, and cut to a length.

What is readable shows all that it holds, in the order in which it is stored, and no line of what is quoted can be taken for
one of ours; however much is printed, a bounded number of bytes is held."""

import re
import unicodedata

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, and what moves about on a terminal
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, and other strings for it
    r"|\x1b[ -/]*[0-~]?"
)
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_LINES = re.compile("\r\n|[\u2028\u2029]")
_CONTROL = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
_UNSEEN = (
    r"\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What Unicode calls ignorable by default (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point): direction marks, joiners,
fillers, variation selectors, tags; and the joiners of hieroglyphs. All of it can hide words from those who look and show them to a model."""
_NOBODYS = r"\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
"""Private use, and what is no character."""
_DROPPED = re.compile(f"[{_CONTROL}{_UNSEEN}{_NOBODYS}]")
BLANK = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
"""What looks like a space and is none: Unicode's other spaces (https://www.unicode.org/reports/tr44/#General_Category_Values, Zs), and
the Braille pattern without a dot."""
MARK = "  │ "
"""Begins each line that is quoted, and no line of ours."""
_MARKS = 4
"""Marks that one letter may bear; more are a tower over the lines around."""
_TOWER = re.compile(rf"[^\w\s\x00-\x7f]{{{_MARKS + 1},}}")
_LINE = 2000
"""Characters of one line that are shown: a terminal that has to break a longer one is busy with it."""


def readable(text: str) -> str:
    """`text` without terminal sequences, control characters (but new lines and tabs), what is not seen, what means nothing to others,
    half surrogates, and towers of marks. Every line break is a new line, every blank a space."""
    # Sequences go first: without its escape character the rest of one would stay as readable text.
    text = _DROPPED.sub("", _SEQUENCE.sub("", _LINES.sub("\n", text)))
    return text if text.isascii() else _TOWER.sub(_lower, BLANK.sub(" ", text))


def unseen(text: str) -> tuple[str, ...]:
    """The characters that nobody sees or that mean nothing to others, each once, in their order; line ends are none of them."""
    if (
        text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    ):  # most are, and this is found out faster
        return ()
    return tuple(dict.fromkeys(_DROPPED.findall(_LINES.sub("\n", text))))


def quoted(text: str) -> str:
    """`text` as somebody else's words: readable, each line behind a mark that no line of ours has, so that none passes for ours."""
    lines = "\n".join(map(readable, text.split("\n"))).split("\n")
    return "\n".join(f"{MARK}{line}".rstrip() for line in lines)


def shown(text: str, most: int) -> str:
    """`text` as it is shown to somebody: readable, its lines cut, and of more than `most` characters the beginning and the end."""
    text = "\n".join(map(_cut, readable(text).split("\n")))
    if len(text) <= most:
        return text
    half = max(0, most - 5) // 2
    return f"{text[:half]}\n...\n{text[len(text) - half :]}"


def _cut(line: str) -> str:
    return line if len(line) <= _LINE else f"{line[:_LINE]} ... ({len(line) - _LINE} more characters)"


def _lower(run: re.Match[str]) -> str:
    """Marks and symbols in a row, with no more marks on one another than letters bear."""
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= _MARKS:
            kept.append(character)
    return "".join(kept)


class Tail:
    """The last `most` bytes of a stream; `total` counts all that came."""

    def __init__(self, most: int) -> None:
        self.total = 0
        self._most = most
        self._kept = bytearray()

    def add(self, chunk: bytes) -> None:
        """More of the stream."""
        self.total += len(chunk)
        self._kept += chunk
        if len(self._kept) > 2 * self._most:
            self._trim()

    def text(self) -> str:
        """Returns what was kept, as it is shown; bytes that are no UTF-8 are replaced."""
        self._trim()
        return shown(self._kept.decode("utf-8", "replace"), self._most)

    def _trim(self) -> None:
        del self._kept[: max(0, len(self._kept) - self._most)]


def harmless(text: str) -> str:
    """A text without what a terminal would obey and what nobody sees. Each line by itself: what one begins hides nothing of the next."""
    return "\n".join(map(readable, text.split("\n")))


def one_line(text: str) -> str:
    """A harmless text without line breaks, such as the path of a program's file."""
    return " ".join(harmless(text).split())


def format_place(feedback: str) -> str:
    """Returns ` (FILE, line N)` of the last call in a traceback; empty where there is none."""
    places = _PLACE.findall(feedback)
    return f" ({places[-1][0]}, line {places[-1][1]})" if places else ""


def brief(text: str, most: int) -> str:
    """The beginning of a text, made harmless before it is cut, and how much more there is."""
    text = harmless(text)
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most:,} more characters)"
