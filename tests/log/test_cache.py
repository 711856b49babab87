import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from evolve.log import EvaluationCache, Log
from evolve.types import StoreError


@pytest.fixture
def cache(path: Path):
    """An empty cache."""
    cache = EvaluationCache(path)
    yield cache
    cache.close()


def test_a_result_comes_back(cache: EvaluationCache) -> None:
    """What was stored under a key is found, byte for byte; the first result of a key stays."""
    assert cache.get("key") is None
    cache.put("key", b"\x00result\xff")
    cache.put("key", b"another")
    assert cache.get("key") == b"\x00result\xff"


def test_engines_share_a_cache(cache: EvaluationCache, path: Path) -> None:
    """What one puts, another gets, also when several make and fill it at once."""
    fresh = path.with_name("shared.db")
    errors: list[StoreError] = []

    def fill(engine: int) -> None:
        try:
            own = EvaluationCache(fresh)
            for number in range(20):
                own.put(f"{engine}/{number}", b"x")
            own.close()
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=fill, args=(engine,)) for engine in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with closing(EvaluationCache(fresh)) as shared:
        assert [shared.get(f"{engine}/{number}") for engine in range(4) for number in range(20)] == [b"x"] * 80


def test_a_cache_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    """It has mode 0600, and its folder is made."""
    path = tmp_path / "archive" / "cache.db"
    EvaluationCache(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"junk " * 1000], ids=["empty", "junk"])
def test_a_broken_cache_may_be_deleted(path: Path, content: bytes) -> None:
    """The error says so, and the file is left for the user to delete."""
    path.write_bytes(content)
    with pytest.raises(StoreError, match="Try: delete it"):
        EvaluationCache(path)
    assert path.exists()


def test_a_log_is_no_cache(path: Path) -> None:
    """A log that is given as a cache is refused."""
    Log.create(path).close()
    with pytest.raises(StoreError, match="no cache"):
        EvaluationCache(path)


def test_damage_found_later_is_explained_too(cache: EvaluationCache, path: Path) -> None:
    """A cache that is damaged while it is used says the same."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE results")
    with pytest.raises(StoreError, match="Try: delete it"):
        cache.get("key")
    with pytest.raises(StoreError, match="Try: delete it"):
        cache.put("key", b"x")


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    """A folder that cannot be made is one clear error."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        EvaluationCache(tmp_path / "file" / "cache.db")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
