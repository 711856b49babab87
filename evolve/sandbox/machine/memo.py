"""What was tried on this machine before, so that not every command tries it again.

Invariant: a memo counts only where it is this user's own file that nobody else may write, and for exactly the key that it was written for;
only success is kept, so that a machine that was mended is tried anew."""

import hashlib
import json
import os
import platform
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from evolve.sandbox.machine.host import Host
from evolve.sandbox.means import Means

_NAME = "sandbox-probe.json"
_MOST = 1 << 16
_KEPT = 16
"""Keys in a file: as many interpreters and machines as share a home folder, within reason."""
_PACKAGE = Path(__file__).parents[1]


def key(python: str, host: Host, means: Means) -> str:
    """What the answer depends on: this boot of this kernel, this user, the interpreter, the facts, the means and this package's files."""
    files = hashlib.sha256()
    for path in sorted(_PACKAGE.glob("**/*.py")):
        files.update(path.name.encode() + path.read_bytes())
    facts = asdict(replace(host, cgroup_error=""))  # that names a group, each time another
    parts = [_boot(), platform.release(), python, os.path.realpath(python), facts, asdict(means), files.hexdigest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def cache_folder(environment: Mapping[str, str]) -> Path | None:
    """Where this user's programs keep what they can find out again; None where there is no such place."""
    if environment.get("XDG_CACHE_HOME"):
        return Path(environment["XDG_CACHE_HOME"]) / "evolve"
    return Path(environment["HOME"]) / ".cache" / "evolve" if environment.get("HOME") else None


@dataclass(frozen=True, slots=True)
class Memo:
    """The keys of what was tried and held, in one file of a folder; None: nothing is kept."""

    folder: Path | None

    def has(self, wanted: str) -> bool:
        """Whether that has held before."""
        return wanted in self._keys()

    def keep(self, held: str) -> None:
        """Writes that it holds; where nothing can be written, it is tried again the next time."""
        if self.folder is None:
            return
        keys = [*[old for old in self._keys() if old != held], held][-_KEPT:]
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(dir=self.folder, prefix=_NAME)
            try:
                with os.fdopen(number, "w", encoding="utf-8") as file:
                    json.dump(keys, file)
                Path(name).replace(self.folder / _NAME)
            finally:
                Path(name).unlink(missing_ok=True)

    def _keys(self) -> list[str]:
        if self.folder is None:
            return []
        try:
            number = os.open(self.folder / _NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return []
        with os.fdopen(number, "rb") as file:
            if not _is_ours(os.fstat(number)):
                return []
            try:
                found = json.loads(file.read(_MOST))
            except ValueError:
                return []
        return found if isinstance(found, list) and all(isinstance(one, str) for one in found) else []


def _is_ours(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def _boot() -> str:
    """The name that the kernel gives to this boot; elsewhere none, and facts and files alone decide."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
