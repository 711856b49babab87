"""Where this process may make control groups: the trees of version 1 and 2, and its own place in them.

Standard library only, for it lives in the template. Invariant: no place lies outside a group of this process that has a limit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TREE = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
ENTRANCE = "cgroup.procs"
"""The file of a group that lists its processes, and that moves one in when its number is written there."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group may be made: in each of `parents` (of version 1 the folder for memory, and that for processes where there is one; of
    version 2 a single one). A process that leaves it goes to `homes`."""

    kind: str
    parents: tuple[Path, ...]
    homes: tuple[Path, ...]


_KINDS = ("memory", "pids", "cpuacct")
"""Of version 1, by what is lost first where one cannot be had: the last ones."""


def places(tree: Path = TREE, own: Path = OWN) -> Iterator[Place]:
    """The places to try, the best first; none where the system has no control groups."""
    groups = _own_groups(own)
    if "memory" in groups and (tree / "memory").is_dir():
        homes = tuple(_inside(tree / name, groups[name]) for name in _KINDS if (tree / name).is_dir())
        whole = len(homes) == len(_KINDS)
        for count in range(len(homes), 0, -1) if whole else (1,):
            yield Place("v1", homes[:count], homes[:count])
    elif "" in groups and (tree / "cgroup.controllers").exists():
        home = _inside(tree, groups[""])
        for parent in _unlimited(home, tree):
            yield Place("v2", (parent,), (home,))


def _unlimited(home: Path, tree: Path) -> Iterator[Path]:
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
