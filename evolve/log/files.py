"""Files of SQLite: connections to them, how one is made, and their errors in one clear sentence with what to do.

Every connection is in auto-commit mode (a transaction begins only where the code says BEGIN) and waits for a busy file. A file appears under
its name only when it is complete. A file system on which SQLite's locks do not hold is refused before anything is written to it."""

import os
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from evolve.types import StoreError

BUSY_SECONDS = 5.0
_CACHE_KIBIBYTES = 16_384
_CHECKPOINT_PAGES = 4_000
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


def writing(path: Path, *, synchronous: str) -> sqlite3.Connection:
    """Opens a connection that may write to the existing file at `path`; `synchronous` FULL: a commit is on the disk when it returns."""
    with ExitStack() as failing:
        connection = failing.enter_context(closing(_connect(f"{path.absolute().as_uri()}?mode=rw")))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIBIBYTES}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        failing.pop_all()
    return connection


def reading(path: Path) -> sqlite3.Connection:
    """Opens a connection that only reads. In a folder where SQLite may not put its shared-memory file, a log that ended well is read as
    it is; one with commits left in its -wal file raises `StoreError`, for without them events would be missing."""
    uri = path.absolute().as_uri()
    try:
        return _probe(f"{uri}?mode=ro")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
    _refuse_unfinished(path)
    return _probe(f"{uri}?mode=ro&immutable=1")


def _probe(uri: str) -> sqlite3.Connection:
    """Opens a connection and reads the file once, for SQLite opens it no sooner than that."""
    with ExitStack() as failing:
        connection = failing.enter_context(closing(_connect(uri)))
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        failing.pop_all()
    return connection


def make(path: Path, build: Callable[[sqlite3.Connection], None]) -> None:
    """Makes a database at `path`, readable by its owner alone; raises `FileExistsError` when there is a file. A process that dies
    meanwhile leaves nothing under that name, and what is there afterwards is on the disk."""
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        # Nobody sees the draft, so one wait for the disk at its end does.
        with closing(writing(Path(name), synchronous="OFF")) as connection:
            build(connection)
        os.fsync(descriptor)
        os.link(name, path)
        _fsync_folder(path.parent)
    finally:
        os.close(descriptor)
        for suffix in ("", "-wal", "-shm"):
            Path(name + suffix).unlink(missing_ok=True)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _connect(uri: str) -> sqlite3.Connection:
    # One thread at a time uses a connection; `close` may come from another.
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _refuse_unfinished(path: Path) -> None:
    wal = path.with_name(f"{path.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise StoreError(
            f"{path} has commits in {wal.name} and lies where it cannot be written. Try: copy both files to a folder that can be "
            "written, and read it there"
        )


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turns errors that the file at `path` causes into `StoreError`; errors of our own code pass unchanged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reason = _reason(error)
        if reason is None:
            raise
        raise StoreError(f"{path} {reason} ({error})") from error


def _reason(error: sqlite3.DatabaseError) -> str | None:
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python's own module raised it: an OperationalError is a text that is no UTF-8, any other a mistake of ours.
        return _DAMAGED if isinstance(error, sqlite3.OperationalError) else None
    return _REASONS.get(code & 0xFF)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """As `explain_errors`, where nothing but the file is read: damage can also make SQLite's own message no UTF-8."""
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
