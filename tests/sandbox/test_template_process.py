"""The template, seen from the judge."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.session import Session
from evolve.sandbox.status import SessionReport, TemplateLost
from evolve.sandbox.template_process import TemplateProcess, clean_environment
from evolve.types import Grants, Limits, Program, SandboxError

pytestmark = pytest.mark.integration


def test_the_environment_holds_what_is_named_and_nothing_else() -> None:
    """A judge's secrets and settings end with the judge."""
    judge = {
        "PATH": "/bin",
        "TZ": "UTC",
        "API_KEY": "secret",
        "PYTHONPATH": "/x",
        "HOME": "/root",
        "OMP_NUM_THREADS": "8",
    }
    told = clean_environment(judge, "/scratch")
    assert (told["PATH"], told["TZ"], told["HOME"], told["TMPDIR"], told["OMP_NUM_THREADS"]) == (
        "/bin",
        "UTC",
        "/scratch",
        "/scratch",
        "1",
    )
    assert not {"API_KEY", "PYTHONPATH"} & set(told)


def test_the_path_shows_what_a_candidate_can_see() -> None:
    """Folders of the user's own tell who uses the machine."""
    judge = {"PATH": "/usr/local/bin:/home/someone/bin:/usr/binary"}
    assert clean_environment(judge, "/scratch", ("/usr/local", "/usr/bin"))["PATH"] == "/usr/local/bin"


def test_there_is_always_a_path() -> None:
    """A candidate may start the usual programs."""
    assert clean_environment({}, "/scratch")["PATH"] == "/usr/local/bin:/usr/bin:/bin"


@pytest.mark.parametrize(
    ("limits", "python", "message"),
    [
        (
            Limits(preload=("no_such_module_x",)),
            sys.executable,
            "no_such_module_x preloaded: ModuleNotFoundError: No module named 'no_such_module_x'. Try: install",
        ),
        (Limits(), "/no/such/python", "with '/no/such/python'.*No such file.*Try: name a Python"),
        (Limits(), "/bin/false", "/bin/false: the template has ended. Try: try that Python"),
    ],
)
def test_a_template_that_cannot_start_says_why(limits: Limits, python: str, message: str) -> None:
    """When the box is made, with the module or the interpreter, and leaves no folder."""
    before = set(Path(tempfile.gettempdir()).glob("evolve-session-*"))
    with pytest.raises(SandboxError, match=message):
        Box(limits, python)
    assert not [home for home in set(Path(tempfile.gettempdir()).glob("evolve-session-*")) - before if _is_ours(home)]


def _is_ours(home: Path) -> bool:
    """Other processes of this machine may be making templates at the same time; theirs have a living process."""
    mark = f"HOME={home}/scratch".encode()
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environment.read_bytes():
                return False
        except OSError:
            continue
    return True


def test_a_module_that_starts_a_thread_cannot_be_preloaded(tmp_path: Path) -> None:
    """A fork of several threads would hang sooner or later."""
    (tmp_path / "threaded_module_x.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH="{tmp_path}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    with pytest.raises(SandboxError, match="a preloaded module has started a thread"):
        Box(Limits(preload=("threaded_module_x",)), str(python))


@pytest.mark.parametrize("means", [PLAIN, probe().means], ids=["reduced", "strict"])
def test_a_module_may_look_for_a_temporary_folder_while_it_is_preloaded(tmp_path: Path, means: Means) -> None:
    """It finds that of the candidates, who find nothing of what it left there."""
    (tmp_path / "leaving_module_x.py").write_text(
        "import pathlib, tempfile\nFOLDER = tempfile.gettempdir()\npathlib.Path(FOLDER, 'left').touch()\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH="{tmp_path}"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    tmp_path.chmod(0o755)
    source = "import leaving_module_x, os\ndef f(): return [leaving_module_x.FOLDER == os.environ['TMPDIR'], os.listdir(os.environ['TMPDIR'])]"
    limits = Limits(preload=("leaving_module_x",), grants=Grants(read=(str(tmp_path),)))
    with closing(Box(limits, str(python), means=means)) as box, open_session(box, source) as session:
        assert session.call("f") == [True, []]


def open_session(box: Box, source: str) -> Session:
    return box.open(Program({"seed.py": source}), "seed", 10)


def test_closing_ends_every_process_and_removes_the_folder(processes: Callable[[str], list[int]]) -> None:
    """Also with a session that is open, and twice is as good as once."""
    box = Box(Limits())
    source = "import os, time\ndef f():\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(100)\n    return os.environ['TMPDIR']\n"
    session = open_session(box, source)
    folder = session.call("f")
    assert len(processes(folder)) == 3
    box.close()
    box.close()
    assert processes(folder) == []
    assert not Path(folder).parent.exists()
    session.close()


@pytest.fixture
def played(tmp_path: Path) -> Iterator[tuple[TemplateProcess, socket.socket]]:
    """A template whose part the test plays, with the test's end of its control socket."""
    ours, theirs = socket.socketpair()
    home = tmp_path / "home"
    home.mkdir()
    template = TemplateProcess(
        subprocess.Popen(["sh", "-c", "echo last words >&2"], stderr=subprocess.PIPE), ours, str(home)
    )
    yield template, theirs
    theirs.close()
    template.close()
    assert not home.exists()


def test_a_template_that_is_gone_is_told(played: tuple[TemplateProcess, socket.socket]) -> None:
    """Opening and ending on it fail in the same way, with what it said last."""
    template, theirs = played
    theirs.close()
    with pytest.raises(TemplateLost, match="the template has ended"):
        template.open(1.0, ())
    time.sleep(0.2)
    with pytest.raises(TemplateLost, match=r"^last words$"):
        template.end(0.0)


@pytest.mark.parametrize("report", [b"nonsense\n", b"[1]\n", b'{"code": 0}\n', b"{}\n"])
def test_a_report_that_cannot_be_read_is_told(played: tuple[TemplateProcess, socket.socket], report: bytes) -> None:
    """Only a whole report counts."""
    template, theirs = played
    theirs.sendall(report)
    with pytest.raises(TemplateLost, match="report cannot be read"):
        template.end(0.0)


def test_a_report_may_come_in_pieces(played: tuple[TemplateProcess, socket.socket]) -> None:
    """It ends with a new line."""
    template, theirs = played
    report = b'{"code": -9, "killed": true, "cpu_seconds": 0.5, "peak_bytes": 7, "strays": 1}\n'
    thread = threading.Thread(target=lambda: [theirs.send(report[:30]), time.sleep(0.1), theirs.send(report[30:])])
    thread.start()
    assert template.end(5.0) == SessionReport(code=-9, killed=True, cpu_seconds=0.5, peak_bytes=7, strays=1)
    thread.join()


def test_the_descriptors_of_the_judge_stay_with_the_judge(box: Box) -> None:
    """A candidate has five, whatever is open here."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        with open_session(
            box, "import os\ndef f(): return sorted(int(n) for n in os.listdir('/proc/self/fd'))"
        ) as session:
            assert session.call("f")[:5] == [0, 1, 2, 3, 4]
            assert len(session.call("f")) == 6  # the sixth is the listing itself
    finally:
        os.close(read)
        os.close(write)
