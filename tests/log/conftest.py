import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from store_samples import STEPS, store_step

from evolve.log import Log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a new log may be made."""
    return tmp_path / "campaign.db"


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that any user may enter, unlike `tmp_path`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


@pytest.fixture
def read_only_place():
    """A context in which a folder and its files cannot be written, by the superuser neither."""

    @contextmanager
    def read_only(folder: Path) -> Iterator[None]:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        superuser = os.geteuid() == 0
        if superuser:
            os.seteuid(65534)
        try:
            yield
        finally:
            if superuser:
                os.seteuid(0)
            folder.chmod(0o755)

    return read_only


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the log of a process that died: half of its steps in the main file, the others in the -wal file."""
    folder = tmp_path_factory.mktemp("crashed")
    path = folder / "live.db"
    with Log.create(path) as log:
        for number in range(1, STEPS + 1):
            store_step(log, number)
            if number == STEPS // 2:
                log._writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", folder / f"a.db{suffix}")
    return folder
