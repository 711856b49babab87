"""Sessions in an interpreter of their own, played without a template."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evolve.sandbox.channel import Channel, Outbox
from evolve.sandbox.inner.fresh import FOLDER, command
from evolve.sandbox.session import Session
from evolve.sandbox.status import SessionFailed, SessionReport, Status
from evolve.sandbox.walls import seccomp
from evolve.sandbox.wire import pack_program
from evolve.types import Limits

pytestmark = pytest.mark.integration

_BECOME = """
import ctypes, os, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
log, requests, replies, *argv = sys.argv[1:]
for source, number in ((log, 1), (log, 2), (requests, 3), (replies, 4)):
    os.dup2(int(source), number)
os.closerange(5, 4096)
os.execve(argv[0], argv, os.environ)
"""
"""The last steps of a candidate's process: no new privileges, its five descriptors, inheritable, and the exec."""

_ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
Open = Callable[..., Session]


@pytest.fixture
def fresh(tmp_path: Path) -> Open:
    """Opens a session of a program's source in an interpreter that has imported some modules."""

    def open_session(source: str, *preload: str, execute: bool = True) -> Session:
        channel = Channel(most=1 << 20, log=1 << 12)
        numbers = [fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in channel.theirs]
        argv = command(sys.executable, FOLDER, preload, execute=execute)
        process = subprocess.Popen(
            [sys.executable, "-c", _BECOME, *map(str, numbers), *argv],
            stdin=subprocess.DEVNULL,
            env=_ENVIRONMENT,
            cwd=tmp_path,
            pass_fds=numbers,
        )
        for number in numbers:
            os.close(number)
        channel.hand_over()
        channel.send(pack_program("seed", {"seed.py": source}, {}))
        return Session(channel, lambda patience: ended(process, patience), 20.0, Limits())

    return open_session


def ended(process: "subprocess.Popen[bytes]", patience: float) -> SessionReport:
    try:
        return SessionReport(process.wait(patience), False, 0.0, 0, 0)
    except subprocess.TimeoutExpired:
        process.kill()
        return SessionReport(process.wait(), True, 0.0, 0, 0)


def test_calls_are_answered(fresh: Open) -> None:
    """Also with what comes in a file, and what is printed is kept line by line."""
    with fresh("def f(x):\n    print('here')\n    return [len(x), __name__, __file__]") as session:
        assert session.call("f", "a") == [1, "seed", "seed.py"]
        assert session.call("f", "b" * 300_000) == [300_000, "seed", "seed.py"]
    assert session.usage.log == "here\nhere\n"


def test_the_program_sees_nothing_of_what_runs_it(fresh: Open) -> None:
    """No module of evolve's, no argument, no path, no descriptor but the five (and that of the folder that it reads)."""
    source = """
import os, sys
def f():
    modules = [name for name in sys.modules if name.partition('.')[0] == 'evolve']
    return [modules, sys.argv, FOLDER in sys.path, sorted(map(int, os.listdir('/proc/self/fd'))), os.listdir('.')]
""".replace("FOLDER", repr(FOLDER))
    with fresh(source) as session:
        assert session.call("f") == [[], ["-c"], False, [0, 1, 2, 3, 4, 5], []]


def test_hashes_are_the_same_in_every_session(fresh: Open) -> None:
    """As in a fork of a template, whose environment says so."""
    found = []
    for _ in range(2):
        with fresh("def f(): return [hash('evolve'), __import__('sys').flags.utf8_mode]") as session:
            found.append(session.call("f"))
    assert found[0] == found[1]
    assert found[0][1] == 1


def test_the_modules_that_are_asked_for_are_there_before_the_program(fresh: Open) -> None:
    """The program finds them loaded, and so does an answer that is an array."""
    source = "import sys\nloaded = 'colorsys' in sys.modules\ndef f(): return loaded"
    with fresh(source, "colorsys") as session:
        assert session.call("f") is True


@pytest.mark.skipif(not seccomp.is_supported(), reason="there is no seccomp, or no table for this machine")
def test_it_can_be_the_last_program_that_is_started(fresh: Open) -> None:
    """Also from a thread that a module has started, before the program's first line."""
    source = """
import os, subprocess, threading
def f():
    found = []
    def start():
        try:
            subprocess.run(['/bin/true'])
            found.append('started')
        except OSError as error:
            found.append(error.errno)
    start()
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    return found
"""
    with fresh(source, execute=False) as session:
        assert session.call("f") == [errno.EPERM, errno.EPERM]
    with fresh(source) as session:
        assert session.call("f") == ["started", "started"]


def test_a_module_that_cannot_be_imported_is_told_by_its_name(fresh: Open) -> None:
    """The process ends before it has read a request."""
    session = fresh("def f(): return 1", "no_such_module_anywhere")
    with session, pytest.raises(SessionFailed) as caught:
        session.call("f")
    assert (caught.value.status, caught.value.message) == (
        Status.NO_RESULT,
        "f() exited with code 1 instead of answering",
    )
    assert session.usage.log.strip().endswith("ModuleNotFoundError: No module named 'no_such_module_anywhere'")


def test_an_interpreter_without_a_request_ends_well() -> None:
    """Which tells whether it can be had, with all that is asked for."""
    outbox = Outbox()
    outbox.close()
    with Path(os.devnull).open("w") as nothing:
        numbers = [
            fcntl.fcntl(number, fcntl.F_DUPFD, 10) for number in (nothing.fileno(), outbox.theirs, nothing.fileno())
        ]
    argv = [sys.executable, "-c", _BECOME, *map(str, numbers), *command(sys.executable, FOLDER, ["colorsys"])]
    found = subprocess.run(argv, env=_ENVIRONMENT, pass_fds=numbers, check=False)
    for number in [outbox.theirs, *numbers]:
        os.close(number)
    assert found.returncode == 0
