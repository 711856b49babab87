import sqlite3
from pathlib import Path

import pytest

from evolve.log import EvaluationCache, Log, checks
from evolve.log.checks import explain_errors, network_file_system
from evolve.types import StoreError

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


@pytest.mark.parametrize("make", [Log.create, EvaluationCache], ids=["log", "cache"])
def test_nothing_is_made_on_a_network_file_system(path: Path, monkeypatch: pytest.MonkeyPatch, make) -> None:
    """The error names the kind and the remedy, and no file appears."""
    table = path.with_name("mounts")
    table.write_text(f"server:/x {path.parent.resolve()} nfs4 rw 0 0\n")
    monkeypatch.setattr(checks, "MOUNTS", table)
    with pytest.raises(StoreError, match=r"network file system \(nfs4\).*EVOLVE_HOME"):
        make(path)
    assert list(path.parent.iterdir()) == [table]


def test_no_log_is_opened_on_a_network_file_system(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that was copied there is refused too; without a table of mounts nothing is."""
    Log.create(path).close()
    table = path.with_name("mounts")
    monkeypatch.setattr(checks, "MOUNTS", table)
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
