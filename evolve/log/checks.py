"""Errors of SQLite and of the system in one clear sentence: why a file cannot be used, and what to do. None leaves the log unexplained, and a file system on which SQLite's locks do not hold is refused before anything is written to it."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evolve.types import StoreError

MOUNTS = Path("/proc/self/mounts")
"""The kernel's table of mounts; where there is none (not Linux), no file system is refused."""

_NETWORK = re.compile(
    r"nfs\d*|cifs|smb\w*|9p|afs|ceph|lustre|gpfs|beegfs\w*|glusterfs|pvfs2|orangefs|gfs2?|ocfs2"
    r"|fuse\.(sshfs|glusterfs|ceph\w*|s3fs|goofys|gcsfuse|rclone|juicefs|mount-s3|smbnetfs|curlftpfs|davfs\w*)|davfs\w*"
)
_DAMAGED = "is damaged. Try: copy the file and its -wal away, then `sqlite3 FILE .recover | sqlite3 NEW` saves what can be read, or take a backup"
_NO_LOG = "is no log of evolve, or its first bytes are damaged. Try: check the path, or take a backup"
_REASONS = {
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full. Nothing that was committed is lost. Try: free space, then go on with --continue",
    sqlite3.SQLITE_IOERR: "cannot be read or written: the disk is full or failing. Nothing that was committed is lost. "
    "Try: free space or check the disk, then go on with --continue",
    sqlite3.SQLITE_BUSY: "is locked by another process that writes to it. Try: end that process, then try again",
    sqlite3.SQLITE_LOCKED: "is locked by another process that writes to it. Try: end that process, then try again",
    sqlite3.SQLITE_READONLY: "cannot be written: its file or its folder is read-only. Try: make both writable, or copy it to a folder that is",
    sqlite3.SQLITE_PERM: "may not be used by this user. Try: use it as its owner, or copy it",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: its file or its folder may not be read or written. Try: check their permissions, or copy it",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _NO_LOG,
    sqlite3.SQLITE_ERROR: _DAMAGED,  # Our statements are right: what they name is missing.
    sqlite3.SQLITE_TOOBIG: "cannot hold a value of more than a gigabyte. Try: lower the limits on what a candidate may return",
}


@contextmanager
def explain_errors(path: Path, *, if_damaged: str | None = None) -> Iterator[None]:
    """Turns errors that the file at `path` causes into `StoreError`; errors of our own code pass unchanged. `if_damaged` says
    something else of a file that is damaged or of another kind."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = _reason(error)
        if reason is None:
            raise
        if if_damaged is not None and reason in (_DAMAGED, _NO_LOG):
            reason = if_damaged
        raise StoreError(f"{path} {reason} ({error})") from error


def _reason(error: sqlite3.DatabaseError) -> str | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python's own module raised it: an OperationalError is a text that is no UTF-8, any other a mistake of ours.
        return _DAMAGED if isinstance(error, sqlite3.OperationalError) else None
    return _REASONS.get(code & 0xFF)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """As `explained`, where nothing but the file is read: damage can also make SQLite's own message no UTF-8."""
    with explain_errors(path):
        try:
            yield
        except UnicodeDecodeError as error:
            raise damage_error(path, str(error)) from error


@contextmanager
def reachable(path: Path) -> Iterator[None]:
    """Turns errors of the operating system while the files of `path` are made or opened into `StoreError`."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be opened for writing: {error.strerror}. Try: check the folder and its permissions and free space, "
            "or set EVOLVE_HOME to a folder that can be written"
        ) from error


def damage_error(path: Path, what: str) -> StoreError:
    """The error for content that is not what was stored."""
    return StoreError(f"{path} {_DAMAGED} ({what})")


def refuse_network(path: Path) -> None:
    """Raises `StoreError` when `path` lies on a network file system."""
    if not MOUNTS.exists():
        return
    kind = network_file_system(path.resolve(), MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"))
    if kind is not None:
        raise StoreError(
            f"{path} lies on a network file system ({kind}), where SQLite's locks do not hold and a log can be damaged. "
            "Try: set EVOLVE_HOME to a folder on a local disk, or copy the log to one"
        )


def network_file_system(path: Path, mounts: str) -> str | None:
    """The type of the network file system that the absolute `path` lies on; None for a local one. `mounts` is a table in the
    format of /proc/mounts: device, mount point, type, options; of two mounts on one point the later one counts."""
    kind, depth = "", -1
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[1]))
        if path.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = fields[2], len(point.parts)
    return kind if _NETWORK.fullmatch(kind) else None
