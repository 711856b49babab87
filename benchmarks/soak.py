"""Whether thousands of sessions of one box leave anything behind: processes, files, mounts, control groups, descriptors, memory.

Most candidates only answer; the others leave files, links, children and daemons, or end in the midst of it. Invariant: what is counted is counted in
this process and in all that descend from it, so that whatever else the machine does is not ours."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from evolve.sandbox.box import Box
from evolve.sandbox.inner.excess import apparent
from evolve.sandbox.means import Means
from evolve.sandbox.processes import descendants
from evolve.sandbox.status import SessionFailed
from evolve.sandbox.walls.cgroup import places
from evolve.types import Limits, Program

WARM = 500
"""Sessions before the first count: what is made once is made then."""
SETTLED_SECONDS = 5.0
_ANSWER = "def f(x): return x + 1"
_TREE = """
import os
def f(x):
    os.makedirs('a/b/c', exist_ok=True)
    os.symlink('/', 'a/link')
    for number in range(20):
        open(f'a/b/{number}', 'w').write('left')
    os.chmod('a/b', 0)
    return x + 1
"""
_CHILDREN = """
import os, time
def f(x):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
    return x + 1
"""
_DESCRIPTORS = "import os\ndef f(x):\n    held = [os.dup(0) for _ in range(50)]\n    return x + 1"
_DIES = """
import os, time
def f(x):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    os.abort()
"""
_RAISES = "def f(x): raise ValueError(x)"
_SOURCES = (*[_ANSWER] * 15, _TREE, _CHILDREN, _DESCRIPTORS, _DIES, _RAISES)
_PROGRAMS = [Program({"seed.py": source}) for source in _SOURCES]


@dataclass(frozen=True, slots=True)
class Traces:
    """What is there of a box and of the process that uses it; `memory` is that of the latter, in bytes."""

    processes: int
    files: int
    mounts: int
    groups: int
    descriptors: int
    memory: int

    def since(self, before: "Traces") -> "Traces":
        """How much more it is."""
        return Traces(*(now - then for now, then in zip(astuple(self), astuple(before), strict=True)))

    @property
    def left(self) -> dict[str, int]:
        """What there is more or less of, memory aside."""
        return {
            each.name: number for each in fields(self) if (number := getattr(self, each.name)) and each.name != "memory"
        }


def traces(folder: Path) -> Traces:
    """As it is now; `folder` is the temporary folder of the box."""
    family = [os.getpid(), *descendants(os.getpid())]
    parents = {parent for place in places() for parent in place.parents}
    names = [group.name.split("-") for parent in parents for group in parent.glob("evolve-*-*")]
    return Traces(
        processes=len(family),
        files=sum(len(folders) + len(files) for _, folders, files in os.walk(folder)),
        mounts=sum(_lines(f"/proc/{pid}/mountinfo") for pid in family),
        groups=sum(int(pid) in family or not Path("/proc", pid).exists() for _, pid, _ in names),
        descriptors=sum(_count(f"/proc/{pid}/fd") for pid in family),
        memory=apparent(os.getpid()),
    )


def soak(evaluations: int, means: Means) -> Traces:
    """What is there more after so many evaluations than before them, in a box of these means, and after that, closed, of anything at all; raises `RuntimeError`
    where a candidate's answer is wrong."""
    with _temporary_folder() as folder:
        unopened = _settled(folder, None)
        opened = Box(Limits(file_size=1 << 20), means=means)
        try:
            _evaluate(opened, WARM)
            before = _settled(folder, None)
            _evaluate(opened, evaluations)
            after = _settled(folder, before)
        finally:
            opened.close()
        closed = _settled(folder, unopened).since(unopened)
        return after.since(before) if not closed.left else closed


def _evaluate(box: Box, evaluations: int) -> None:
    for number in range(evaluations):
        program = _PROGRAMS[number % len(_PROGRAMS)]
        with contextlib.suppress(SessionFailed):
            with box.open(program, "seed", 10.0) as session:
                answer = session.call("f", number)
            if answer != number + 1:
                raise RuntimeError(f"evaluation {number} was answered with {answer!r}")


def _settled(folder: Path, expected: Traces | None) -> Traces:
    """What is there when it is as expected, or does not become so; where nothing is expected, when it stays the same."""
    deadline = time.monotonic() + SETTLED_SECONDS
    last = traces(folder)
    while time.monotonic() < deadline:
        time.sleep(0.1)
        now = traces(folder)
        if not now.since(expected or last).left:
            return now
        last = now
    return last


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    """In which every temporary file of this process lies."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="evolve-soak-") as folder:
        tempfile.tempdir = folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before


def _lines(path: str) -> int:
    """Of a file of the kernel; 0 for what is gone, or not ours to see."""
    try:
        return Path(path).read_bytes().count(b"\n")
    except OSError:
        return 0


def _count(folder: str) -> int:
    try:
        return sum(1 for _ in Path(folder).iterdir())
    except OSError:
        return 0
