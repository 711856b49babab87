"""Results of evaluations by key, shared by the campaigns of a workspace. Nothing depends on it: without the file the same
results are computed again, so it is never repaired, and a commit need not be on the disk when it returns."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from evolve.log.files import explain_errors, make, reachable, refuse_network, writing
from evolve.types import StoreError

APPLICATION = 0x45564F43
"""`EVOC` in ASCII: SQLite's application id of the cache."""

_BROKEN = "is no cache of evaluations, or a damaged one. Try: delete it and its -wal and -shm files; results are computed again"


class EvaluationCache:
    """The cache at `path`, made when it is missing. Used by one thread; several engines may share the file."""

    def __init__(self, path: Path) -> None:
        refuse_network(path)
        self.path = path
        with reachable(path), explain_errors(path, if_damaged=_BROKEN):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Another engine may make it at the same moment: then that one is used.
            with suppress(FileExistsError):
                if not path.exists():
                    make(path, _build)
            self._connection = _open_file(path)

    def get(self, key: str) -> bytes | None:
        """The result that was stored under `key`."""
        with explain_errors(self.path, if_damaged=_BROKEN):
            row = self._connection.execute("SELECT result FROM results WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def put(self, key: str, result: bytes) -> None:
        """Stores `result` under `key`; the first one stays."""
        with explain_errors(self.path, if_damaged=_BROKEN):
            self._connection.execute(
                "INSERT INTO results (key, result) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, result)
            )

    def close(self) -> None:
        """Ends using the file; may be called again."""
        self._connection.close()


def _build(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("CREATE TABLE results (key TEXT PRIMARY KEY, result BLOB NOT NULL)")


def _open_file(path: Path) -> sqlite3.Connection:
    connection = writing(path, synchronous="NORMAL")
    if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
        return connection
    connection.close()
    raise StoreError(f"{path} {_BROKEN}")
