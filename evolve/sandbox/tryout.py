"""A few real candidates in a real box: whether the means hold what their level promises, on this machine and now.

Each is harmless where it succeeds: it reads and writes what was made for it alone, connects to a listener of its own, and asks whether it
might send a signal without sending one. Invariant: nothing that was made for it is left."""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evolve.sandbox.box import Box
from evolve.sandbox.means import Means
from evolve.sandbox.session import Session
from evolve.sandbox.status import SessionFailed
from evolve.types import Level, Limits, Program, SandboxError

_SECONDS = 5.0
_ANSWER = 42
_CANDIDATE = Program(
    {
        "candidate.py": """
import os, socket

def answer():
    return 42

def read(path):
    with open(path) as file:
        return file.read()

def write(path):
    with open(path, "w") as file:
        file.write("written")

def connect(port):
    with socket.create_connection(("127.0.0.1", port), 2):
        return "connected"

def signal(pid, namespace):
    if os.readlink("/proc/self/ns/pid") == namespace:
        os.kill(pid, 0)
        return "may signal"
"""
    }
)


@dataclass(frozen=True, slots=True)
class Bait:
    """What the candidates are told of; all of it was made for them. `word` is what stands in `secret`."""

    secret: Path
    word: str
    other: Path
    port: int
    pid: int
    namespace: str


def failure(means: Means, python: str = sys.executable) -> str:
    """Why these means are not had for candidates in the interpreter `python`; empty where they hold what their level promises."""
    try:
        with closing(Box(Limits(), python, means=means)) as box, _laid_out() as bait:
            return _first_failure(box, bait, hostile=means.level.reaches(Level.STANDARD))
    except SandboxError as error:
        return f"the box does not start: {error}"


def _first_failure(box: Box, bait: Bait, *, hostile: bool) -> str:
    attempts: Mapping[str, Callable[[Session], bool]] = {
        "a candidate could read a file of the host's": lambda session: (
            bait.word in str(_tried(session, "read", str(bait.secret)))
        ),
        "a candidate could write a file of the host's": lambda session: _wrote(session, bait.other),
        "a candidate could connect to a server on this machine": lambda session: bool(
            _tried(session, "connect", bait.port)
        ),
        "a candidate could signal a process of the host's": lambda session: bool(
            _tried(session, "signal", bait.pid, bait.namespace)
        ),
    }
    for breach, succeeds in attempts.items() if hostile else ():
        with _session(box) as session:
            if succeeds(session):
                return breach
    with _session(box) as session:
        answer = _tried(session, "answer")
    return "" if answer == _ANSWER else f"a harmless candidate was to answer {_ANSWER}, and answered {answer!r}"


@contextmanager
def _session(box: Box) -> Iterator[Session]:
    """One session; how it ends is no matter here."""
    with suppress(SessionFailed), box.open(_CANDIDATE, "candidate", _SECONDS) as session:
        yield session


def _tried(session: Session, function: str, *arguments: object) -> object:
    """What a function answers; None where it raises, or its process is ended."""
    try:
        return session.call(function, *arguments)
    except SessionFailed:
        return None


def _wrote(session: Session, path: Path) -> bool:
    """Whether the host sees what was written."""
    _tried(session, "write", str(path))
    return path.read_text("utf-8") != ""


@contextmanager
def _laid_out() -> Iterator[Bait]:
    folder = Path(tempfile.mkdtemp(prefix="evolve-probe-"))
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            secret, other, word = folder / "secret", folder / "other", os.urandom(8).hex()
            secret.write_text(word, "utf-8")
            other.touch()
            yield Bait(secret, word, other, listener.getsockname()[1], os.getpid(), _namespace())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""
