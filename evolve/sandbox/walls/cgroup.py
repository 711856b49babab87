"""Control groups of version 1 and 2, which bound the memory of one slot's candidates together, and the number of their processes.

Standard library only, for it lives in the template. What counts is what the members touch first: a template enters its group once it has
preloaded, so that what it preloaded stays with the group that it comes from. Its candidates, born inside, pay for their own pages, for
template pages that they write to, for shared memory, for files in a tmpfs (as long as those exist) and for what the kernel keeps for them. Files that
were read count until memory is short. A few MB are the template's own, which it touches as it forks.

A group lies inside the group of its maker, or beside it where nothing limits that one, so that a limit that was set from outside
always holds. A group is held by a lock on its folder, shared by all that descend from its maker: unlocked means that they are gone.
A group lies in the tree of version 1 or 2, and never outside a group of its maker that has a limit."""

import contextlib
import fcntl
import itertools
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TREE = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
ENTRANCE = "cgroup.procs"
"""The file of a group that lists its processes, and that moves one in when its number is written there."""
_NAME = re.compile(r"evolve-\d+-\d+")
_NUMBERS = itertools.count(1)
_END_SECONDS = 2.0
_PAUSE = 0.001
_READ = 1 << 16
_KILLS = re.compile(rb"^oom_kill (\d+)$", re.MULTILINE)
_USED = re.compile(rb"^usage_usec (\d+)$", re.MULTILINE)
_EVENTS = {"v1": "memory.oom_control", "v2": "memory.events"}


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """Place for a group: in each of `parents` (of version 1 the folder for memory, and that for processes where there is one; of
    version 2 a single one). A process that leaves it goes to `homes`."""

    kind: str
    parents: tuple[Path, ...]
    homes: tuple[Path, ...]


_CONTROLLERS = ("memory", "pids", "cpuacct")
"""Of version 1, by what is lost first where one cannot be had: the last ones."""


def places(tree: Path = TREE, own: Path = OWN) -> Iterator[GroupPlace]:
    """The places to try, the best first; none where the system has no control groups."""
    groups = _own_groups(own)
    if "memory" in groups and (tree / "memory").is_dir():
        homes = tuple(_inside(tree / name, groups[name]) for name in _CONTROLLERS if (tree / name).is_dir())
        whole = len(homes) == len(_CONTROLLERS)
        for count in range(len(homes), 0, -1) if whole else (1,):
            yield GroupPlace("v1", homes[:count], homes[:count])
    elif "" in groups and (tree / "cgroup.controllers").exists():
        home = _inside(tree, groups[""])
        for parent in _find_unlimited(home, tree):
            yield GroupPlace("v2", (parent,), (home,))


def _find_unlimited(home: Path, tree: Path) -> Iterator[Path]:
    """A process's own group of version 2, and those above as long as none below has a limit. In its own there is seldom a place: a group
    that has members cannot limit groups inside."""
    yield home
    while home != tree and _limit_of(home) == "max":
        home = home.parent
        yield home


def _limit_of(group: Path) -> str:
    try:
        return (group / "memory.max").read_text().strip()
    except OSError:  # the group has no such limit of its own
        return "max"


def _own_groups(own: Path) -> dict[str, str]:
    """The path of this process's group by controller; that of version 2 by the empty name."""
    try:
        lines = [line.split(":", 2) for line in own.read_text().splitlines()]
    except OSError:
        return {}
    return {name: path for _, names, path in lines for name in names.split(",")}


def _inside(root: Path, path: str) -> Path:
    """A group's folder; the root where the path means nothing here, as in a container that sees its own group as the root."""
    folder = root / path.lstrip("/")
    return folder if ".." not in folder.parts and folder.is_dir() else root


def sweep(tree: Path = TREE, own: Path = OWN) -> int:
    """Removes the groups that nobody holds any more, and ends what is left in them; how many it were."""
    removed = 0
    for parent in {parent for place in places(tree, own) for parent in place.parents}:
        for name in filter(_NAME.fullmatch, _list_folder(parent)):
            with contextlib.suppress(OSError):  # it is held, or somebody else was first
                removed += _Node.take(parent, name).remove()
    return removed


class ControlGroup:
    """A group of version 1 or 2. Make it before the root folder or the namespace of control groups changes: its descriptors
    are of use afterwards too. For the processes that descend from its maker, one at a time."""

    def __init__(self, nodes: Sequence["_Node"], homes: Sequence[int], events: int, processor: int = -1) -> None:
        self._processor = processor
        self._nodes = nodes
        self._homes = homes
        self._events = events
        self._kills = 0

    @classmethod
    def make(cls, kind: str, memory: int, tasks: int, tree: Path = TREE, own: Path = OWN) -> "ControlGroup":
        """An empty group for `memory` bytes, swap included, and `tasks` processes and threads, the template among them; raises `OSError`
        with the reason of the last place that was tried."""
        problem = OSError(f"no control groups of kind {kind!r} below {tree}")
        for place in places(tree, own):
            if place.kind == kind:
                try:
                    return cls._make(place, _settings(kind, memory, tasks))
                except OSError as error:
                    problem = error
        raise problem

    @classmethod
    def _make(cls, place: GroupPlace, limits: Sequence[Mapping[str, tuple[int, bool]]]) -> "ControlGroup":
        nodes: list[_Node] = []
        with contextlib.ExitStack() as failing:
            for parent, settings in zip(place.parents, limits, strict=False):
                if place.kind == "v2":
                    _enable(parent)
                nodes.append(_Node.make(parent))
                failing.callback(nodes[-1].remove)
                for name, (most, needed) in settings.items():
                    nodes[-1].limit(name, most, needed=needed)
            homes = []
            for home in place.homes:
                homes.append(os.open(home / ENTRANCE, os.O_WRONLY))
                failing.callback(os.close, homes[-1])
            group = cls(nodes, homes, nodes[0].open(_EVENTS[place.kind]), _clock(nodes[-1]))
            failing.pop_all()
            return group

    def add(self, pid: int = 0) -> None:
        """Moves a process in; 0 is the calling one. All that it forks from now on is born inside. Raises `OSError`."""
        for node in self._nodes:
            node.add(pid)

    def is_exceeded(self) -> bool:
        """Returns whether the kernel has ended a member for want of memory since the last look."""
        found = _KILLS.search(os.pread(self._events, _READ, 0))
        before, self._kills = self._kills, int(found[1]) if found else 0
        return self._kills > before

    def cpu_seconds(self) -> float:
        """Processor time of all members since the group was made, also of those whose end nobody waited for; 0 where it is not counted."""
        if self._processor < 0:
            return 0.0
        found = os.pread(self._processor, _READ, 0)
        counted = _USED.search(found)
        return int(counted[1]) / 1e6 if counted else int(found) / 1e9

    def close(self) -> None:
        """Leaves the group, ends what is left in it and removes it. What cannot be ended within two seconds, such as a process that hangs in a
        driver, stays for `sweep`. May be called twice."""
        for home in self._homes:
            with contextlib.suppress(OSError):  # a home that is gone, or closed to us: then it is ended from outside
                os.write(home, b"0")
        for node in self._nodes:
            node.remove()
        for number in (
            *self._homes,
            *([self._events] if self._nodes else ()),
            *([self._processor] if self._nodes and self._processor >= 0 else ()),
        ):
            os.close(number)
        self._nodes, self._homes = (), ()


class _Node:
    """The folder of a group in one hierarchy, held by its lock."""

    def __init__(self, parent: int, name: str, folder: int, entrance: int) -> None:
        self._parent = parent
        self._name = name
        self._folder = folder
        self._entrance = entrance

    @classmethod
    def make(cls, parent: Path) -> "_Node":
        """A new one; raises `OSError`."""
        while True:
            folder = parent / f"evolve-{os.getpid()}-{next(_NUMBERS)}"
            try:
                folder.mkdir()
                return cls.take(parent, folder.name)
            except FileExistsError:  # that of a process long gone, which had the same number
                continue
            except BlockingIOError:  # somebody who sweeps came between the two calls, and removes it
                continue
            except FileNotFoundError:  # somebody has; or it is no group
                if not parent.is_dir() or _withdrawn(folder):
                    raise

    @classmethod
    def take(cls, parent: Path, name: str) -> "_Node":
        """One that is there and that nobody holds; raises `OSError`, of which `BlockingIOError`: somebody does."""
        with contextlib.ExitStack() as failing:
            opened = []
            for path, how in (
                (parent, os.O_RDONLY),
                (parent / name, os.O_RDONLY),
                (parent / name / ENTRANCE, os.O_RDWR),
            ):
                opened.append(os.open(path, how))
                failing.callback(os.close, opened[-1])
            above, folder, entrance = opened
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The lock may be one on a folder that its former holder has removed meanwhile.
            if not os.path.samestat(os.stat(name, dir_fd=above), os.fstat(folder)):
                raise FileNotFoundError(f"{parent / name} was removed")
            failing.pop_all()
        return cls(above, name, folder, entrance)

    def open(self, name: str) -> int:
        """One of its files, to be read."""
        return os.open(name, os.O_RDONLY, dir_fd=self._folder)

    def limit(self, name: str, most: int, *, needed: bool) -> None:
        """Writes a limit; raises `OSError`, but not for a file that is not there and not `needed`."""
        try:
            number = os.open(name, os.O_WRONLY, dir_fd=self._folder)
        except FileNotFoundError:
            if needed:
                raise
            return
        try:
            os.write(number, str(most).encode())
        finally:
            os.close(number)

    def add(self, pid: int) -> None:
        """Moves a process in."""
        os.write(self._entrance, str(pid).encode())

    def remove(self) -> bool:
        """Ends the members and removes the folder, and lets go of it; whether it is this call that removed it."""
        deadline = time.monotonic() + _END_SECONDS
        try:
            while True:
                self._end_members()
                try:
                    os.rmdir(self._name, dir_fd=self._parent)
                    return True
                except FileNotFoundError:
                    return False
                except OSError:  # not yet empty
                    if time.monotonic() > deadline:
                        return False
                time.sleep(_PAUSE)
        finally:
            for number in (self._entrance, self._folder, self._parent):
                os.close(number)

    def _end_members(self) -> None:
        with contextlib.suppress(OSError):
            number = os.open("cgroup.kill", os.O_WRONLY, dir_fd=self._folder)
            try:
                os.write(number, b"1")
                return
            finally:
                os.close(number)
        for pid in self._members():
            with contextlib.suppress(OSError):  # it ended meanwhile
                handle = os.pidfd_open(pid)
                try:
                    if pid in self._members():  # and so the handle is that of the member, not of a later process
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                finally:
                    os.close(handle)

    def _members(self) -> set[int]:
        """The pids of the members, but for the calling process and for those that its namespace of processes hides."""
        try:
            listed = os.pread(self._entrance, _READ, 0)
        except OSError:  # the folder is gone
            return set()
        return {int(pid) for pid in listed.split()} - {0, os.getpid()}


def _clock(node: "_Node") -> int:
    """Opens what counts the processor time of a group, of version 1 or 2; -1 where nothing does."""
    for name in ("cpuacct.usage", "cpu.stat"):
        with contextlib.suppress(FileNotFoundError):
            return node.open(name)
    return -1


def _settings(kind: str, memory: int, tasks: int) -> Sequence[Mapping[str, tuple[int, bool]]]:
    """For each parent of a place: the files of its group, what they are set to, and whether there is no group without."""
    if kind == "v1":
        # The limit with swap may not be below the one without. Where swap is not counted, at least it is not sought.
        swap = {"memory.swappiness": (0, False), "memory.memsw.limit_in_bytes": (memory, False)}
        return {"memory.limit_in_bytes": (memory, True), **swap}, {"pids.max": (tasks, True)}, {}
    return ({"memory.max": (memory, True), "memory.swap.max": (0, False), "pids.max": (tasks, False)},)


def _enable(parent: Path) -> None:
    """Has the groups in a folder of version 2 bound memory, and processes where that is possible; raises `OSError`."""
    if not os.access(parent / ENTRANCE, os.W_OK):  # the kernel's rule for whoever moves a process below it
        raise PermissionError(f"no process may be moved below {parent}")
    for controller in ("memory", "pids"):
        if controller not in (parent / "cgroup.subtree_control").read_text().split():
            with contextlib.nullcontext() if controller == "memory" else contextlib.suppress(OSError):
                (parent / "cgroup.subtree_control").write_text(f"+{controller}")


def _withdrawn(folder: Path) -> bool:
    """Removes a folder that turned out to be no group; False for one that is gone."""
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _list_folder(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 names are wanted
    except OSError:
        return []
