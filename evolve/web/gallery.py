"""The pictures that a task draws of results: made when somebody looks, one at a time, and kept in memory.

Invariant: a picture is made by a judge process of the task's own evaluator from stored artifacts; no program runs, and whatever goes wrong
is a sentence in a picture's place."""

import os
import threading
from collections import OrderedDict
from collections.abc import Collection
from html import escape
from pathlib import Path

from evolve.evaluation import Job
from evolve.pictures import drawable, picture
from evolve.sandbox.means import PLAIN
from evolve.types import EvolveError, Task

_KEPT = 200
_LARGEST = 4 << 20
"""Characters of a picture that is shown."""
_PATIENCE_SECONDS = 60.0
"""How long a picture waits for those before it."""


class Gallery:
    """Pictures by what they are of. Any thread; a picture that failed is tried again when it is next asked for."""

    def __init__(self, owners: Collection[int] | None = None) -> None:
        """Task folders of these users (by default this person and the system) are run, and no others: a log from anywhere may name one."""
        self._owners = (os.geteuid(), 0) if owners is None else owners
        self._drawing = threading.Lock()
        self._pictures: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._draws: dict[str, bool] = {}

    def draws(self, task: Task) -> bool:
        """Whether this version of a task draws pictures, which its evaluator says, once; False also where that cannot be asked."""
        if not self._ours(task.folder):
            return False
        with self._drawing:
            if task.version not in self._draws:
                try:
                    self._draws[task.version] = drawable(task, PLAIN)
                except EvolveError:
                    return False
            return self._draws[task.version]

    def picture(self, task: Task, place: str, job: Job) -> str:
        """The picture of the result that lies in `place`, as SVG."""
        if not self._ours(task.folder):
            return said(f"the task's folder {task.folder} is another person's, and what lies there would be run")
        key = (task.version, place)
        if key in self._pictures:
            return self._pictures[key]
        if not self._drawing.acquire(timeout=_PATIENCE_SECONDS):
            return said("others are being drawn: look again in a while")
        try:
            return self._drawn(task, key, job)
        finally:
            self._drawing.release()

    def _ours(self, folder: str) -> bool:
        try:
            return Path(folder).stat().st_uid in self._owners
        except OSError:  # gone, so that nothing there is run
            return True

    def _drawn(self, task: Task, key: tuple[str, str], job: Job) -> str:
        if key in self._pictures:
            return self._pictures[key]
        try:
            found = picture(task, job, PLAIN)
        except EvolveError as error:
            return said(str(error))
        if len(found) > _LARGEST:
            return said(f"the picture has {len(found):,} characters, which is too many to show")
        self._pictures[key] = found
        while len(self._pictures) > _KEPT:
            self._pictures.popitem(last=False)
        return found


def said(why: str) -> str:
    """A sentence as a picture."""
    words, lines = why.split(), [""]
    for word in words[:60]:
        if len(lines[-1]) + len(word) > 44:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word[:44]}".strip()
    rows = "".join(
        f'<text x="200" y="{90 + 22 * at}" text-anchor="middle">{escape(line)}</text>' for at, line in enumerate(lines)
    )
    height = 130 + 22 * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 {height}" font-family="sans-serif" font-size="15" fill="#80838d">'
        f'<text x="200" y="56" text-anchor="middle" font-weight="bold">no picture</text>{rows}</svg>'
    )
