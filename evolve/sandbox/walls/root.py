"""Namespaces of a slot's own, and the file tree in them: what a candidate may see of the host, for reading, and nothing else.

The namespaces are of processes, network, messages, names, control groups, mounts, and users where the worker is not root. They are made once per slot,
since that costs more than a fork; the next process that is forked is the first one of a namespace of processes, which the kernel empties when it ends.

Standard library only, for it lives in the outer process of a template. The tree is a small tmpfs into which the visible folders are bound, or
copied where the jail is private, at the places where they are on the host, so that every path means the same inside.

Nothing in the tree can be written but the folders that are mounted afresh between two sessions; the host's tree cannot be reached
any more once `enter_root` has returned.

The folders that candidates may write are each a tmpfs. What a kernel does not let a candidate forge (the time of the last change) tells whether one has
touched them, and then they are mounted anew."""

import contextlib
import errno
import fcntl
import math
import os
import shutil
import socket
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from evolve.sandbox import kernel
from evolve.sandbox.jail import Jail

INSIDE = 60_000
"""The number of the worker's user in a user namespace: not 0, for which much software expects more than it gets."""

_NAME = "candidate"
"""The machine's name as candidates see it."""
_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_REQUEST = struct.Struct("16sH14x")


WRITABLE = "/candidate"
"""Holds all that candidates may write, each folder a mount of its own that is made anew; it stays itself, so that rules on it last."""
SCRATCH = "/candidate/scratch"
SHARED_MEMORY = "/candidate/shm"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""What every candidate has of them."""
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/shm": SHARED_MEMORY,
    "/tmp": SCRATCH,
    "/var/tmp": SCRATCH,
}
_PROCESSES, _SYSTEM = Path("/proc"), Path("/sys")
_FOLDERS = (SCRATCH, SHARED_MEMORY, "/proc", "/etc")
_COPIED = 64 << 20
"""Bytes of the largest file that a private tree has a copy of: those above are few libraries, of which each slot would hold a GB."""
_CHUNK = 1 << 20
_UNTIL_ACTIVE = 3
"""Reads after which the kernel marks a page of a disk's file as referenced and active, whatever it was, and no further one changes that."""
_KEPT_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
"""Flags of a mount that `statvfs` reports under the same numbers; whoever is not root may not take them away."""


def inside(user: int) -> int:
    """Returns who candidates are in a slot's namespaces: `user`, or, where that is -1, the worker's own."""
    return user if user >= 0 else INSIDE


def enter_namespaces(*, users: bool, loopback: bool) -> None:
    """Makes and enters the namespaces; with `users` as an ordinary user, who is mapped to `INSIDE`. Raises `OSError`."""
    flags = (
        kernel.CLONE_NEWPID | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP
    )
    user, group = os.geteuid(), os.getegid()
    # The maps are files of this process, and those of one that is not dumpable belong to root.
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
    kernel.unshare(flags | (kernel.CLONE_NEWUSER if users else 0))
    if users:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{INSIDE} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{INSIDE} {group} 1")
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    socket.sethostname(_NAME)
    if loopback:
        raise_loopback()


def renew_network() -> None:
    """Enters a network of its own again, with a loopback: ports that were used just now, and counters, stay behind with the old one."""
    kernel.unshare(kernel.CLONE_NEWNET)
    raise_loopback()


def rehearse(*, users: bool) -> None:
    """Makes what a slot makes, the namespaces and a file tree in them, in a process that ends with them. Raises `OSError`."""
    enter_namespaces(users=users, loopback=False)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", "/", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=64k")


def raise_loopback() -> None:
    """Switches `lo` on; raises `OSError`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        found = fcntl.ioctl(sock, _SIOCGIFFLAGS, _REQUEST.pack(b"lo", 0))
        flags: int = _REQUEST.unpack(found)[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, _REQUEST.pack(b"lo", flags | _IFF_UP))


class Tmpfs:
    """A mount at `path` of at most `size` bytes and `inodes` files, which is `user`'s own. Implements what the template needs of a scratch folder."""

    def __init__(self, path: str, size: int, inodes: int, user: int, *, execute: bool) -> None:
        self.path = path
        self._flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOATIME | (0 if execute else kernel.MS_NOEXEC)
        self._options = f"size={size},nr_inodes={inodes},mode=700,uid={user},gid={user}"
        self._fresh = self._mount()

    def renew(self, seconds: float = math.inf) -> bool:
        """Makes the folder fresh, which it then is, however short `seconds` are; nothing to do, and soon done, when the last candidate did
        nothing to it."""
        # Mounting costs far more than looking, and most candidates leave no file.
        if self._state() != self._fresh:
            kernel.unmount(self.path, kernel.MNT_DETACH)
            self._fresh = self._mount()
        return True

    def _mount(self) -> tuple[object, ...]:
        kernel.mount("tmpfs", self.path, "tmpfs", self._flags, self._options)
        return self._state()

    def _state(self) -> tuple[object, ...]:
        found = os.stat(self.path)  # noqa: PTH116 twice a session: a `Path` takes longer than the call
        return (
            found.st_ino,
            found.st_dev,
            found.st_ctime_ns,
            found.st_mtime_ns,
            found.st_mode,
            self._marks(),
            os.listdir(self.path) != [],  # noqa: PTH208 names are enough
        )

    def _marks(self) -> list[str]:
        try:
            return os.listxattr(self.path)
        except OSError:  # a kernel whose tmpfs has none
            return []


@dataclass(frozen=True, slots=True)
class ProcView:
    """Descriptors that a template keeps of what its candidates do not see: `processes`, all of the namespace (a /proc of its own), and
    `last_pid`, the number that the next process counts on from (-1 where the kernel has none)."""

    processes: int
    last_pid: int

    @property
    def path(self) -> Path:
        """The template's own /proc, by its descriptor."""
        return Path(f"/proc/self/fd/{self.processes}")


def enter_root(jail: Jail, user: int) -> ProcView:
    """Builds the tree at the jail's home, an empty folder of the host, and makes it this process's root; it is the first process of a
    namespace. What may be read and not run is bound like what is visible. `user` is who candidates are. Raises `OSError`; what is visible and
    not there is left out."""
    tree = RootTree(Path(jail.home), private=jail.private)
    if jail.private:
        tree.copy_all(jail)
    else:
        tree.bind_all(jail)
    for path in map(Path, (*DEVICES, *jail.nodes)):
        if path.exists():
            tree.bind_device(path)
    for name, target in _LINKS.items():
        tree.link(Path(name), target)
    tree.write_names(user)
    # Before the host's own /proc is out of reach: whoever is not root may mount one only where it sees one.
    shown = [Path(place) for place in jail.readable if Path(place).is_relative_to(_PROCESSES)]
    kept = _mount_processes(str(tree.at(_PROCESSES)), whole=bool(shown))
    if shown:
        tree.cover_machine(shown)
    os.chdir(tree.place)
    kernel.pivot_root()
    kernel.unmount(".", kernel.MNT_DETACH)
    os.chdir("/")
    kernel.mount(
        "", "/", "", kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV
    )
    return kept


def _resolve_parents(path: str) -> Path:
    """The path with no link among its parents: one that leads out of the tree would have us make folders on the host."""
    return Path(path).parent.resolve() / Path(path).name


def _mount_processes(place: str, *, whole: bool) -> ProcView:
    """Mounts /proc twice: the template's own, kept by descriptors, and above it the candidates', which shows their processes alone and
    nothing of the machine, unless it is to be the `whole`, which then has to be covered. Raises `OSError` where the kernel refuses, as where the host's own is covered in part."""
    kernel.mount("proc", place, "proc", _KEPT_FLAGS)
    processes, last_pid = os.open(place, os.O_PATH | os.O_DIRECTORY), -1
    with contextlib.suppress(OSError):
        last_pid = os.open(f"{place}/sys/kernel/ns_last_pid", os.O_WRONLY)
    if whole:
        kernel.mount("proc", place, "proc", _KEPT_FLAGS, "hidepid=2")
        return ProcView(processes, last_pid)
    try:
        kernel.mount("proc", place, "proc", _KEPT_FLAGS, "hidepid=2,subset=pid")
    except OSError:  # before Linux 5.8
        kernel.mount("proc", place, "proc", _KEPT_FLAGS, "hidepid=2")
        kernel.mount(f"{place}/sys", f"{place}/sys", "", kernel.MS_BIND)
        _close(f"{place}/sys", kernel.MS_NOEXEC)
    return ProcView(processes, last_pid)


class RootTree:
    """The tree that is being built at `place`. Paths are the host's, which are the tree's own later."""

    def __init__(self, place: Path, *, private: bool) -> None:
        self.place = place
        self.bound: list[Path] = []
        # Nothing bounds a ramfs: half of the machine's memory, as for a tmpfs.
        self.room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        kernel.unshare(kernel.CLONE_NEWNS)
        kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
        # Pages of a ramfs are never on the kernel's lists of what was used last, on which it moves those of a tmpfs that are read.
        kind, size = ("ramfs", "") if private else ("tmpfs", "size=1m,")
        kernel.mount(kind, str(place), kind, kernel.MS_NOSUID | kernel.MS_NODEV, f"{size}mode=755")
        for folder in map(Path, _FOLDERS):
            self.at(folder).mkdir(parents=True)

    def at(self, path: Path) -> Path:
        """Returns where a path of the host lies while the tree is built."""
        return self.place / path.relative_to("/")

    def bind_all(self, jail: Jail) -> None:
        """Shows what candidates may see by mounts of the host's own files."""
        for path in sorted(set(map(_resolve_parents, jail.visible))):
            if not any(path.is_relative_to(folder) for folder in self.bound):
                self.bind(path, 0)
        for path in sorted(set(map(_resolve_parents, jail.readable))):
            if not any(path.is_relative_to(place) for place in (_PROCESSES, *map(Path, jail.hidden), *self.bound)):
                self.bind(path, kernel.MS_NOEXEC)
        shown = {Path(place): 0 for place in jail.shown} | {Path(place): kernel.MS_NOEXEC for place in jail.readable}
        for path in map(Path, jail.hidden):
            self.hide(path, {place: flags for place, flags in shown.items() if place.is_relative_to(path)})

    def copy_all(self, jail: Jail) -> None:
        """Shows copies of what candidates may see. In this memory every page and every name is there from the start, so that nobody can leave
        word in which of them are; those of the host's files come and go, which can be timed."""
        hidden = set(map(Path, jail.hidden))
        for path in sorted({*map(_resolve_parents, jail.visible), *map(Path, jail.shown)}):
            self.copy(path, hidden)
        for path in sorted(set(map(_resolve_parents, jail.readable))):
            if path.is_relative_to(_PROCESSES):
                continue
            if path.is_relative_to(_SYSTEM):
                # The kernel's own answers have no pages to leave word in, and no end.
                self.bind(path, kernel.MS_NOEXEC)
                continue
            self.copy(path, hidden)
            if path.exists() and not path.is_symlink():
                _bind(str(self.at(path)), str(self.at(path)), kernel.MS_NOEXEC)

    def copy(self, path: Path, hidden: Collection[Path]) -> None:
        """Copies a folder with all that is below it and not hidden, a file or a link."""
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            self.link(path, str(path.readlink()))
        elif path.is_dir():
            shutil.copytree(
                path,
                target,
                symlinks=True,
                ignore=lambda folder, names: [name for name in names if Path(folder, name) in hidden],
                copy_function=self.copy_file,
                dirs_exist_ok=True,
            )
        elif path.exists():
            self.copy_file(path, target)

    def copy_file(self, path: os.PathLike[str] | str, target: os.PathLike[str] | str) -> None:
        """Copies a file. A very large one is the host's own, brought into memory as a whole before anybody can look. Each page is marked as used,
        so that a candidate that reads it changes nothing that `/proc/self/numa_maps` and `smaps` tell of it."""
        size = Path(path).stat().st_size
        if size <= _COPIED:
            self.room -= size
            if self.room < 0:
                raise OSError(errno.ENOSPC, "what a private box copies takes half of the memory", os.fspath(path))
            shutil.copy2(path, target)
            _read(target, 1)
            return
        _read(path, _UNTIL_ACTIVE)
        self.bind_file(Path(path))
        _close(os.fspath(target), 0)

    def bind(self, path: Path, flags: int) -> None:
        """Shows a folder with all that is below it, a file or a link, for reading."""
        if path.is_symlink():
            self.link(path, str(path.readlink()))
        elif path.is_dir():
            self.at(path).mkdir(parents=True, exist_ok=True)
            _bind(str(path), str(self.at(path)), flags)
            self.bound.append(path)
        elif path.exists():
            self.bind_file(path)
            _close(str(self.at(path)), flags)

    def bind_file(self, path: Path) -> None:
        """Shows a file, or a device with the rights that it has."""
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        kernel.mount(str(path), str(target), "", kernel.MS_BIND)

    def bind_device(self, path: Path) -> None:
        """Shows a device: it can be read and written, and its file, which is the host's own, cannot be changed."""
        self.bind_file(path)
        kept = os.statvfs(path).f_flag & _KEPT_FLAGS
        flags = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NOEXEC
        kernel.mount("", str(self.at(path)), "", flags | kept)

    def link(self, path: Path, target: str) -> None:
        """Makes a link, where there is nothing."""
        if not os.path.lexists(self.at(path)):
            self.at(path).parent.mkdir(parents=True, exist_ok=True)
            self.at(path).symlink_to(target)

    def hide(self, path: Path, shown: Mapping[Path, int]) -> None:
        """Covers a folder by an empty one, but for what is `shown` of it, each with the flags of its mount, and a file by an empty one."""
        target = self.at(path)
        if shown:
            target.mkdir(parents=True, exist_ok=True)
        if target.is_symlink() or not target.exists():
            return
        if target.is_dir():
            kernel.mount("tmpfs", str(target), "tmpfs", _KEPT_FLAGS, "size=64k,mode=755")
            for place, flags in sorted(shown.items()):
                self.bind(place, flags)
            _close(str(target), kernel.MS_NOEXEC)
        else:
            kernel.mount("/dev/null", str(target), "", kernel.MS_BIND)
            _close(str(target), 0)

    def cover_machine(self, shown: Collection[Path]) -> None:
        """Covers what a whole /proc tells of the machine, but for what is `shown` of it, such as a driver's facts."""
        for found in sorted(self.at(_PROCESSES).iterdir()):
            path = _PROCESSES / found.name
            if not (found.name.isdecimal() or path in shown or found.is_symlink()):
                self.hide(path, {place: kernel.MS_NOEXEC for place in shown if place.is_relative_to(path)})

    def write_names(self, user: int) -> None:
        """Writes what the C library looks up: who the user is, and where names come from."""
        texts = {
            "passwd": f"candidate:x:{user}:{user}::{SCRATCH}:/bin/sh\n",
            "group": f"candidate:x:{user}:\n",
            "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
            "hosts": "127.0.0.1 localhost\n",
        }
        for name, text in texts.items():
            if not os.path.lexists(self.at(Path("/etc", name))):
                self.at(Path("/etc", name)).write_text(text)


def _read(path: os.PathLike[str] | str, times: int) -> None:
    for _ in range(times):
        with open(path, "rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass


def _bind(path: str, target: str, flags: int) -> None:
    """Shows a folder or file at a place with all mounts below it, closed."""
    kernel.mount(path, target, "", kernel.MS_BIND | kernel.MS_REC)
    for place in _mounts_below(target):
        _close(place, flags)


def _close(path: str, flags: int) -> None:
    """No writing, no devices and no other user's rights in what was bound."""
    kept = os.statvfs(path).f_flag & _KEPT_FLAGS
    kernel.mount(
        "",
        path,
        "",
        kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY | kernel.MS_NOSUID | kernel.MS_NODEV | flags | kept,
    )


def _mounts_below(target: str) -> list[str]:
    """The mount at `target` and those within it."""
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        # Spaces and the like are written as octal numbers.
        path = line.split()[4].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "surrogateescape")
        if path == target or path.startswith(target + "/"):
            found.append(path)
    return found
