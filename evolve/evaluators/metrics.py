"""Sources of a script's score: a file that it writes, or its output.

Invariant: what is read is the script's own claim, and one finite number."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evolve.evaluators.saved import Unreadable, last_of_column, member, number, read_json

_TABLES = {".csv": ",", ".tsv": "\t"}
_LONGEST_LINE = 4096
"""Characters of a line of output that are looked at: a long line and a careless expression may take for ever."""
STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in `source`, a file or a stream, at `path`: keys of a JSON value, the heading of a column, or a regular expression."""

    source: str
    path: str

    @classmethod
    def parse(cls, written: str) -> "Metric":
        """`results.json:accuracy`, `log.csv:loss` or `stdout:loss = (.*)`; raises `ValueError` with the remedy."""
        source, _, path = written.partition(":")
        suffix = _suffix(source)
        if not path or (source not in STREAMS and suffix != ".json" and suffix not in _TABLES):
            raise ValueError(
                'a metric is "FILE.json:KEY", "FILE.csv:COLUMN" (or .tsv), or "stdout:REGULAR EXPRESSION" (or stderr). Do: write '
                'for example "results.json:accuracy"'
            )
        if source in STREAMS:
            _compile(path)
        return cls(source, path)

    @property
    def file(self) -> str:
        """The file that it stands in; empty for a stream."""
        return "" if self.source in STREAMS else self.source

    def read(self, files: Mapping[str, bytes], streams: Mapping[str, str]) -> float:
        """The number, of what the script has left and printed; raises `Unreadable` with the source."""
        try:
            return self._read(files, streams)
        except Unreadable as error:
            raise Unreadable(f"{self.source}: {error}") from None

    def _read(self, files: Mapping[str, bytes], streams: Mapping[str, str]) -> float:
        if not self.file:
            return _last_match(self.path, streams[self.source])
        if self.source not in files:
            raise Unreadable("the script left no such file")
        content, suffix = files[self.source], _suffix(self.source)
        if suffix == ".json":
            return member(read_json(content), self.path)
        return last_of_column(content, self.path, _TABLES[suffix])


def _suffix(name: str) -> str:
    return name[name.rfind(".") :].lower() if "." in name else ""


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}. Do: correct it") from None
    if found.groups != 1:
        raise ValueError(f"{pattern!r} has {found.groups} groups, wanted one. Do: put the number alone in ( )")
    return found


def _last_match(pattern: str, text: str) -> float:
    """Returns the number of the last line that matches: scripts print a metric again and again."""
    compiled = _compile(pattern)
    for line in reversed(text.splitlines()):
        found = compiled.search(line[:_LONGEST_LINE])
        if found is not None:
            return number(found[1] or "")
    raise Unreadable(f"no line matches {pattern!r}")
