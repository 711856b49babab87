"""The host that the corpus attacks: files, processes and sockets that were made for it, and what is looked at afterwards.

Invariant: nothing of the machine's own is at stake. A host that was changed is thrown away, so that each case meets an untouched one."""

import contextlib
import hashlib
import os
import resource
import secrets
import shutil
import stat
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.redteam.case import Told
from tests.redteam.descendants import adopted
from tests.redteam.echo import Echo
from tests.redteam.listeners import Listeners

_GRADER = "def evaluate(answer):\n    return 1.0 if answer == 42 else 0.0\n"
_SYSTEM = ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/domainname", "vm/overcommit_memory")
_WRITABLE = (("tmp",), ("var", "tmp"), ("dev", "shm"), ("run",), ("run", "lock"), ("etc",))
_RLIMITS = (
    resource.RLIMIT_AS,
    resource.RLIMIT_CPU,
    resource.RLIMIT_FSIZE,
    resource.RLIMIT_NOFILE,
    resource.RLIMIT_STACK,
)


class Host:
    """A context manager; used by one thread. Inside of it the environment of this process holds the word, as a judge's could hold a key."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Host":
        with contextlib.ExitStack() as stack:
            self._make(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self._stack.close()

    def changes(self) -> list[str]:
        """What has become of it, in words; nothing where it is as it was made."""
        files = [(before, _looked_at(Path(before.path))) for before in self._files]
        found = [f"{before.path}: {before.difference(after)}" for before, after in files if before != after]
        found += self._listeners.heard()
        found += [f"the {name} does not answer" for name, process in self._processes.items() if not process.answers()]
        system = _system()
        found += [f"{name} has changed" for name, before in self._system.items() if system.get(name) != before]
        return found + [f"{place} was planted" for place in _planted(self.told.mark, self._folder)]

    def _make(self, stack: contextlib.ExitStack) -> None:
        word, mark = f"evolve-canary-{secrets.token_hex(16)}", f"evolve-planted-{secrets.token_hex(6)}"
        key = f"EVOLVE_CANARY_{secrets.token_hex(4).upper()}"
        self._folder = Path(tempfile.mkdtemp(prefix="evolve-redteam-"))
        stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
        stack.callback(_remove_planted, mark, self._folder)
        secret, grader, socket = self._written(word)
        self._listeners = stack.enter_context(Listeners(str(socket), mark))
        socket.chmod(0o666)
        os.environ[key] = word
        stack.callback(os.environ.pop, key, None)
        stack.enter_context(adopted())
        sibling = stack.enter_context(Echo())
        engine = stack.enter_context(Echo((word,), {key: word}))
        self._processes = {"sibling": sibling, "engine": engine}
        self.told = Told(
            secret=str(secret),
            grader=str(grader),
            folder=str(grader.parent),
            unix=str(socket),
            abstract=self._listeners.abstract,
            tcp=self._listeners.tcp,
            udp=self._listeners.udp,
            sibling=sibling.pid,
            engine=engine.pid,
            namespace=_namespace(),
            uid=os.getuid(),
            key=key,
            word=hashlib.sha256(word.encode()).hexdigest(),
            mark=mark,
        )
        self._files = [_looked_at(place) for place in (secret.parent, secret, grader.parent, grader, socket)]
        self._system = _system()

    def _written(self, word: str) -> tuple[Path, Path, Path]:
        """The secret in a folder that is ours alone, and a grader and a place for a socket in one that everybody may look into."""
        self._folder.chmod(0o755)
        private, public = self._folder / "private", self._folder / "public"
        private.mkdir(0o700)
        public.mkdir()
        public.chmod(0o755)
        secret, grader = private / "secret", public / "grader.py"
        secret.write_text(f"{word}\n", "utf-8")
        secret.chmod(0o600)
        grader.write_text(f"# {word}\n{_GRADER}", "utf-8")
        grader.chmod(0o644)
        return secret, grader, public / "socket"


@dataclass(frozen=True, slots=True)
class Looked:
    """A file or folder as it is found: its content, or the names in it."""

    path: str
    kind: int = 0
    mode: int = 0
    owner: tuple[int, int] = (0, 0)
    changed: int = 0
    content: bytes | tuple[str, ...] = b""

    def difference(self, after: "Looked") -> str:
        """What is different, in words."""
        if after.kind != self.kind:
            return "it is gone" if not after.kind else "it is another kind of file"
        pairs = {
            "mode": (self.mode, after.mode),
            "owner": (self.owner, after.owner),
            "content": (self.content, after.content),
            "time": (self.changed, after.changed),
        }
        return " and ".join(f"its {name}" for name, (old, new) in pairs.items() if old != new) + " changed"


def _looked_at(place: Path) -> Looked:
    try:
        found = place.lstat()
    except FileNotFoundError:
        return Looked(str(place))
    content: bytes | tuple[str, ...] = b""
    if stat.S_ISDIR(found.st_mode):
        content = tuple(sorted(inner.name for inner in place.iterdir()))
    elif stat.S_ISREG(found.st_mode):
        content = place.read_bytes()
    owner = (found.st_uid, found.st_gid)
    return Looked(
        str(place), stat.S_IFMT(found.st_mode), stat.S_IMODE(found.st_mode), owner, found.st_mtime_ns, content
    )


def _system() -> dict[str, str]:
    """What a candidate could change of the whole machine, or of the judge."""
    found = {"the host's name": os.uname().nodename, "the judge's priority": str(os.getpriority(os.PRIO_PROCESS, 0))}
    found |= {f"the judge's rlimit {which}": str(resource.getrlimit(which)) for which in _RLIMITS}
    for place in ("/proc/self/mounts", *(f"/proc/sys/{name}" for name in _SYSTEM)):
        with contextlib.suppress(OSError):  # another system, or a kernel without it
            found[place] = Path(place).read_text("utf-8")
    return found


def _planted(mark: str, folder: Path) -> list[Path]:
    """What a program has left outside of its own folder."""
    places = {folder, Path(tempfile.gettempdir()), Path(os.environ.get("HOME", "/")), Path.cwd()}
    places |= {Path("/", *parts) for parts in _WRITABLE}
    places |= {Path(sysconfig.get_path("purelib")), Path(sysconfig.get_path("stdlib"))}
    return [found for place in places for found in place.glob(f"*{mark}*")]


def _remove_planted(mark: str, folder: Path) -> None:
    for place in _planted(mark, folder):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


def _namespace() -> str:
    with contextlib.suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""
