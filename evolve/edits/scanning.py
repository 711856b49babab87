"""From the text of a reply to what is in it, in its order.

Invariant: linear in the reply's length; what is inside an edit or a fence is never taken for anything else."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from evolve.edits import fences, hunks
from evolve.edits.answer import Broken, Item, Prose, Replace, Rewrite
from evolve.edits.failure import EditFailed, EditKind
from evolve.edits.fences import Fence, fence
from evolve.edits.markers import Markers, named_on
from evolve.edits.paths import cleaned, from_info, from_label, in_passing

MOST_EDITS = 300
_NEAR = 3
"""Lines before an edit in which its path is looked for."""

_BLANK = Prose("")


def scanned(lines: Sequence[str], paths: Collection[str]) -> tuple[Item, ...]:
    """The edits, the fenced texts and the lines of prose of a reply; `paths` are those of the program. Raises `EditFailed` where there
    are more than any reply needs."""
    found: list[Item] = []
    count = 0
    for item in Scan(lines, paths).items():
        count += not isinstance(item, Prose)
        if count > MOST_EDITS:
            raise EditFailed(
                EditKind.TOO_LARGE,
                f"The reply has more than {MOST_EDITS} edits. Do: write one fenced text with the whole file",
            )
        found.append(item)
    return tuple(found)


class Scan:
    """One pass over the lines of a reply, from its first to its last."""

    def __init__(self, lines: Sequence[str], paths: Collection[str]) -> None:
        self._lines = lines
        self._paths = paths
        self._markers = Markers(lines)
        self._index = 0
        self._free = 0
        self._number = 1
        self._path = ""
        self._around = ""

    def items(self) -> Iterator[Item]:
        """What is in the reply; lines that are prose between the rest."""
        while self._index < len(self._lines):
            if not self._lines[self._index].strip():
                self._index += 1
                yield _BLANK
                continue
            opened = fence(self._lines[self._index])
            if self._index == self._markers.opens(self._index):
                yield self._edit()
            elif opened and self._around and not opened.info and opened.run[0] == self._around[0]:
                self._past(self._index + 1)
                self._around = ""
            elif opened:
                yield from self._fenced(opened)
            elif hunks.begins(self._lines, self._index):
                yield from self._diff()
            else:
                yield Prose(self._lines[self._index])
                self._path = ""
                self._index += 1

    def _past(self, index: int) -> None:
        """Goes on behind what was read."""
        self._index = self._free = index

    def _edit(self) -> Replace | Broken:
        path = from_label(named_on(self._lines[self._index])) or self._label() or self._path
        found, after = self._markers.edit(self._index)
        self._past(after)
        self._path = path
        self._number += 1
        return found if isinstance(found, Broken) else Replace(self._number - 1, path, found)

    def _fenced(self, opened: Fence) -> Iterator[Item]:
        """A fenced text; or, where an edit begins in it, nothing: the edit comes next."""
        start, count = self._index + 1, len(self._lines)
        tag, path = from_info(opened.info)
        named = path or self._label()
        opens = self._markers.opens(start)
        end = fences.closing(self._lines, start, opened, count)
        if opens < end:
            self._path, self._around = named or self._path, opened.run
            self._free, self._index = start, opens
            return
        body = fences.unmargined(self._lines[start:end], opened.margin)
        if hunks.looks_like_diff(body, tag):
            yield from self._numbered(hunks.replaces(body, named))
        else:
            yield Rewrite(named or self._passing(), bool(named), tag, body, end < count)
        self._past(min(end + 1, count))
        self._path = ""

    def _diff(self) -> Iterator[Item]:
        start = self._index
        end = max(start + 1, hunks.ends(self._lines, start, self._markers.opens(start)))
        yield from self._numbered(hunks.replaces(self._lines[start:end], self._label()))
        self._past(end)

    def _numbered(self, found: Iterator[Replace | Broken]) -> Iterator[Replace | Broken]:
        for item in found:
            yield replace(item, number=self._number) if isinstance(item, Replace) else item
            self._number += 1

    def _before(self) -> Iterator[str]:
        """The lines with text right before this one that nothing else holds, the nearest first."""
        for index in range(self._index - 1, max(self._free, self._index - _NEAR) - 1, -1):
            if self._lines[index].strip():
                yield self._lines[index]

    def _label(self) -> str:
        line = next(self._before(), "")
        bare = cleaned(line[:240])
        return bare if bare in self._paths else from_label(line)

    def _passing(self) -> str:
        return in_passing(next(self._before(), ""), self._paths)
