"""Landlock: a process gives up all access to files, but for what rules grant, and for as long as it and its children live.

Facts: https://docs.kernel.org/userspace-api/landlock.html. Standard library and siblings only, for it lives in the template. Its system calls have the
same numbers on every machine. What an interface knows is handled in full, so that whatever no rule grants is denied; and a
process that has entered holds no descriptor by which the rules of others could be widened.

What Landlock does not know at all is left to the other layers: changes of modes, owners and times, whether a path exists, sockets other
than TCP (sockets with a path among them), and with an interface below 3 `truncate(2)` and `O_TRUNC` (see `seccomp`)."""

import contextlib
import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag

from evolve.sandbox import kernel

NEWEST = 7
"""The newest interface that is known here; a kernel with a later one is used as this."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_TELL_VERSION = 1
_PATH_BENEATH = 1
_NO_LOG = 1
"""Denials are not written to the audit log, which hostile code could fill; from interface 7 on."""


class Right(IntFlag):
    """Right that can be granted on a file, or on everything in and below a folder."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    """Renaming and linking from one folder to another; before interface 2 that is always denied, and programs copy instead."""
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


LOOK = Right.READ_FILE | Right.READ_DIR
"""Read files and list folders."""
READ = LOOK | Right.EXECUTE
"""Read, list and execute."""
CHANGE = LOOK | Right.WRITE_FILE | Right.TRUNCATE
"""Read and write what is there; make and remove nothing."""
NODE = Right.READ_FILE | Right.WRITE_FILE | Right.IOCTL_DEV
"""Use a device file: read, write and `ioctl`."""
_FURNISH = Right.MAKE_DIR | Right.MAKE_REG | Right.MAKE_SOCK | Right.MAKE_FIFO | Right.MAKE_SYM
WRITE = READ | CHANGE | _FURNISH | Right.REMOVE_DIR | Right.REMOVE_FILE | Right.REFER
"""Everything that a working folder is for; device files cannot be made there."""

_OF_FILES = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV
"""All others are rights on folders, which a rule on a file may not name."""
_SINCE = {2: Right.REFER, 3: Right.TRUNCATE, 5: Right.IOCTL_DEV}
"""The rights that interfaces brought; all others are of the first."""
_TCP_SINCE, _TCP = 4, 0b11
"""Binding and connecting."""
_SCOPES_SINCE, _SCOPES = 6, 0b11
"""Abstract sockets of others, and signals to others."""
_QUIET_SINCE = 7


@dataclass(frozen=True, slots=True)
class PathRule:
    """Grant at `path`, in and below it where it is a folder; a link is followed. A path that is not there is an error, unless
    `needed` is False: then the rule is left out."""

    path: str
    rights: Right
    needed: bool = True


def version() -> int:
    """The interface of this kernel, at most `NEWEST`; 0 where there is none. It is tried and not believed: some kernels that were patched
    together have a number whose rights they lack, and are then what they can do."""
    if not kernel.LINUX:
        return 0
    try:
        told = read_version()
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM}:  # not built, not switched on, not allowed here
            return 0
        raise
    return next((abi for abi in range(min(told, NEWEST), 0, -1) if _is_taken(abi)), 0)


def read_version() -> int:
    """Returns the version that the kernel names; raises `OSError` with the reason where it has none."""
    return kernel.syscall("landlock_create_ruleset", _CREATE_RULESET, 0, 0, _TELL_VERSION)


def rights_of(abi: int) -> Right:
    """The rights on files that an interface knows, and denies where no rule grants them."""
    unknown = [rights for since, rights in _SINCE.items() if since > abi]
    return Right(sum(Right) & ~sum(unknown))


def prepare(rules: Iterable[PathRule], abi: int, *, loopback: bool = False) -> int:
    """A descriptor of the rules, to be made once in a template and entered by each of its children. Made as for interface `abi`, 1 to
    `NEWEST`; one below the kernel's is an older kernel simulated. `loopback` leaves TCP as it is.

    Raises `OSError`: with the path, for one that is needed and is not there."""
    if not 1 <= abi <= NEWEST:
        raise ValueError(f"Landlock's interface is 1 to {NEWEST}, not {abi}")
    ruleset = _make_ruleset(abi, loopback)
    with contextlib.ExitStack() as failing:
        failing.callback(os.close, ruleset)
        for rule in rules:
            _grant(ruleset, rule, rights_of(abi))
        failing.pop_all()
    return ruleset


def add(ruleset: int, rule: PathRule, abi: int) -> None:
    """One more rule, for those who enter from now on; `abi` as in `prepare`. Raises `OSError`."""
    _grant(ruleset, rule, rights_of(abi))


def enter(ruleset: int, abi: int = 1) -> None:
    """Holds this process, of one thread, and all its future children to the rules, for good, and closes the descriptor: by it, rules
    could be added for those who enter later. Also takes from them all gain of privileges, without which the kernel refuses. `abi`
    as in `prepare`; from 7 on denials are not logged."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, _NO_LOG if abi >= _QUIET_SINCE else 0)
    os.close(ruleset)


def _make_ruleset(abi: int, loopback: bool) -> int:
    """An empty ruleset. An older kernel takes the longer description as long as it ends in zeros."""
    tcp = _TCP if abi >= _TCP_SINCE and not loopback else 0
    attributes = struct.pack("=QQQ", rights_of(abi), tcp, _SCOPES if abi >= _SCOPES_SINCE else 0)
    return kernel.syscall("landlock_create_ruleset", _CREATE_RULESET, ctypes.c_char_p(attributes), len(attributes), 0)


def _is_taken(abi: int) -> bool:
    try:
        os.close(_make_ruleset(abi, loopback=False))
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.E2BIG}:
            raise
        return False
    return True


def _grant(ruleset: int, rule: PathRule, known: Right) -> None:
    try:
        place = os.open(rule.path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if rule.needed:
            raise
        return
    try:
        rights = rule.rights & known
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            # The kernel refuses a whole rule on a file that names a right on folders.
            rights &= _OF_FILES
        if rights:
            beneath = struct.pack("=Qi", rights, place)
            kernel.syscall("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, ctypes.c_char_p(beneath), 0)
    finally:
        os.close(place)
