"""What a candidate prints: the end of it is kept, and made fit to be read by people, terminals and models.

Invariant: however much is printed, a bounded number of bytes is held."""

import re

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """`text` without terminal sequences, control characters (but new lines and tabs), direction marks and half surrogates."""
    return _CONTROL.sub("", _SEQUENCE.sub("", text.replace("\r\n", "\n")))


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
        """What was kept, as readable text; bytes that are no UTF-8 are replaced."""
        self._trim()
        return readable(self._kept.decode("utf-8", "replace"))

    def _trim(self) -> None:
        del self._kept[: max(0, len(self._kept) - self._most)]
