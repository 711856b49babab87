"""Connections to files of SQLite, and what cannot be used."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from evolve.log import Log, files
from evolve.log.files import explain_errors, make, network_file_system, reading, writing
from evolve.types import StoreError


def build(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (1)")


def test_a_database_appears_complete_or_not_at_all(path: Path) -> None:
    """A builder that fails leaves no file; one that succeeds leaves one file, in WAL mode, for its owner alone."""
    with pytest.raises(ZeroDivisionError):
        make(path, lambda connection: 1 // 0)
    assert list(path.parent.iterdir()) == []
    make(path, build)
    assert list(path.parent.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        make(path, build)
    assert list(path.parent.iterdir()) == [path]


def test_names_are_quoted(tmp_path: Path) -> None:
    """Signs that mean something in a URI are part of a file's name."""
    path = tmp_path / "50% of a?b#c.db"
    make(path, build)
    with closing(reading(path)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]


def test_a_commit_is_on_the_disk(path: Path) -> None:
    """The writing connection has a write-ahead log and waits for the disk at each commit."""
    make(path, build)
    with closing(writing(path, synchronous="FULL")) as connection:
        pragmas = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert pragmas == ["wal", 2]


def test_writing_makes_no_file(path: Path) -> None:
    """A missing file is an error of SQLite."""
    with pytest.raises(sqlite3.OperationalError):
        writing(path, synchronous="FULL")
    assert not path.exists()


def test_a_reader_cannot_write(path: Path) -> None:
    """A reading connection refuses to change anything."""
    make(path, build)
    with closing(reading(path)) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM t")


def test_a_reader_does_without_shared_memory(path: Path) -> None:
    """Where SQLite cannot put its shared-memory file, a finished database is read as it is."""
    make(path, build)
    path.with_name(f"{path.name}-shm").mkdir()
    with closing(reading(path)) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]


TABLE = """\
sysfs /sys sysfs rw 0 0
/dev/vda / ext4 rw,relatime 0 0
server:/home /home nfs4 rw,vers=4.2 0 0
/dev/vdb /home/local xfs rw 0 0
//nas/share /mnt/two\\040words cifs rw 0 0
host:/x /mnt/ssh fuse.sshfs rw 0 0
C: /mnt/c 9p rw 0 0
mds:/ /lustre lustre rw 0 0
mon:/ /ceph ceph rw 0 0
gpfs0 /gpfs gpfs rw 0 0
drive /mnt/fuse fuse.ntfs-3g rw 0 0
server:/twice /twice nfs rw 0 0
/dev/vdc /twice ext4 rw 0 0
broken
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/archive/a.db", None),
        ("/home/me/a.db", "nfs4"),
        ("/home/local/a.db", None),
        ("/homeless/a.db", None),
        ("/mnt/two words/a.db", "cifs"),
        ("/mnt/ssh/a.db", "fuse.sshfs"),
        ("/mnt/c/Users/a.db", "9p"),
        ("/lustre/a.db", "lustre"),
        ("/ceph/a.db", "ceph"),
        ("/gpfs/a.db", "gpfs"),
        ("/mnt/fuse/a.db", None),
        ("/twice/a.db", None),
    ],
)
def test_network_file_systems_are_recognised(path: str, kind: str | None) -> None:
    """The deepest mount that holds the path decides, and of two on one point the later."""
    assert network_file_system(Path(path), TABLE) == kind


def test_without_mounts_nothing_is_refused() -> None:
    """An empty table names no network file system."""
    assert network_file_system(Path("/a.db"), "") is None


def test_nothing_is_made_on_a_network_file_system(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the kind and the remedy, and no file appears."""
    table = path.with_name("mounts")
    table.write_text(f"server:/x {path.parent.resolve()} nfs4 rw 0 0\n")
    monkeypatch.setattr(files, "MOUNTS", table)
    with pytest.raises(StoreError, match=r"network file system \(nfs4\).*EVOLVE_HOME"):
        Log.create(path)
    assert list(path.parent.iterdir()) == [table]


def test_no_log_is_opened_on_a_network_file_system(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that was copied there is refused too; without a table of mounts nothing is."""
    Log.create(path).close()
    table = path.with_name("mounts")
    monkeypatch.setattr(files, "MOUNTS", table)
    Log.open(path).close()
    table.write_text(f"server:/x {path.parent.resolve()} nfs4 rw 0 0\n")
    with pytest.raises(StoreError, match="copy the log"):
        Log.open(path, readonly=True)


def test_errors_of_our_own_code_stay_what_they_are() -> None:
    """A violated constraint or the misuse of a connection is no trouble with the file."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (x NOT NULL)")
    with pytest.raises(sqlite3.IntegrityError), explain_errors(Path("a.db")):
        connection.execute("INSERT INTO t VALUES (NULL)")
    connection.close()
    with pytest.raises(sqlite3.ProgrammingError), explain_errors(Path("a.db")):
        connection.execute("SELECT 1")


def test_a_text_that_is_no_utf8_is_damage() -> None:
    """Python's own complaint about a text column is explained as damage."""
    connection = sqlite3.connect(":memory:")
    with pytest.raises(StoreError, match=r"a\.db is damaged"), explain_errors(Path("a.db")):
        connection.execute("SELECT CAST(x'ff' AS TEXT)").fetchone()
    connection.close()


def test_a_busy_file_is_explained(tmp_path: Path) -> None:
    """Somebody else's transaction is named as the reason."""
    first = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    second = sqlite3.connect(tmp_path / "a.db", isolation_level=None, timeout=0)
    first.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another process"), explain_errors(Path("a.db")):
        second.execute("BEGIN IMMEDIATE")
    first.close()
    second.close()
