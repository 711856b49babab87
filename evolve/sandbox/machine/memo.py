"""Memory of what was tried on this machine before, so that not every command tries it again.

Only success is kept, so that a machine that was mended is tried anew."""

import hashlib
import json
import os
import platform
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from evolve.sandbox.machine.host import Host
from evolve.sandbox.means import Means

_NAME = "sandbox-probe-"
_KEPT = 16
"""Keys in a folder: as many interpreters and machines as share a home folder, within reason."""
_PACKAGE = Path(__file__).parents[1]


def key(python: str, host: Host, means: Means) -> str:
    """Returns a digest of what the answer depends on: this boot of this kernel, this user, the interpreter, the facts, the means and this package's files."""
    files = hashlib.sha256()
    for path in sorted(_PACKAGE.glob("**/*.py")):
        files.update(path.name.encode() + path.read_bytes())
    facts = asdict(replace(host, cgroup_error=""))  # that names a group, each time another
    parts = [_boot(), platform.release(), python, os.path.realpath(python), facts, asdict(means), files.hexdigest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Returns the folder in which this user's programs keep what they can find out again; None where there is none."""
    if environment.get("XDG_CACHE_HOME"):
        return Path(environment["XDG_CACHE_HOME"]) / "evolve"
    return Path(environment["HOME"]) / ".cache" / "evolve" if environment.get("HOME") else None


@dataclass(frozen=True, slots=True)
class Memo:
    """Keys of what was tried and held, each the name of an empty file in a folder of this user's alone; None: nothing is kept."""

    folder: Path | None

    def has(self, key: str) -> bool:
        """Returns whether that has held before."""
        return self.folder is not None and _is_ours(self.folder) and _is_ours(self.folder / f"{_NAME}{key}")

    def keep(self, key: str) -> None:
        """Keeps that it holds; where nothing can be written, it is tried again the next time."""
        if self.folder is None:
            return
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self.folder / f"{_NAME}{key}").touch(mode=0o600)
            by_age = sorted(self.folder.glob(f"{_NAME}*"), key=lambda path: path.lstat().st_mtime_ns)
            for old in by_age[:-_KEPT]:
                old.unlink(missing_ok=True)


def _is_ours(path: Path) -> bool:
    """Returns whether a path leads to what this user has made, through no link, and nobody else may write."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not stat.S_ISLNK(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o022


def _boot() -> str:
    """Returns the name that the kernel gives to this boot; elsewhere none, and facts and files alone decide."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
