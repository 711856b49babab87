"""Sessions one after the other."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from every_level import LEVELS, opened

from evolve.sandbox import template_process
from evolve.sandbox.box import Box
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.processes import children
from evolve.sandbox.status import SessionFailed, SessionReport, Status
from evolve.sandbox.template_process import TemplateProcess
from evolve.types import Grants, Limits, Program, SandboxError

pytestmark = pytest.mark.integration

_ANSWER = Program({"seed.py": "def f(): return 42"})


def value(box: Box, program: Program = _ANSWER) -> object:
    with box.open(program, "seed", 10) as session:
        return session.call("f")


def test_the_level_of_isolation_is_told(box: Box) -> None:
    """One line, which begins with the level's name."""
    assert box.isolation == "reduced: separate process, rlimits, time limits; no file or network isolation"
    assert box.isolation == PLAIN.line


def test_a_program_finds_the_signals_as_a_new_python_has_them(box: Box) -> None:
    """Though its template does not hear them."""
    source = "import signal\ndef f(): return [repr(signal.getsignal(each)) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]\n"
    wanted = [repr(signal.default_int_handler), repr(signal.SIG_DFL), repr(signal.SIG_DFL)]
    assert value(box, Program({"seed.py": source})) == wanted


def test_a_template_loads_no_module_that_slows_each_fork_down(box: Box) -> None:
    """`subprocess` brings `threading`, which looks at all that it knows after each."""
    source = "import sys\ndef f(): return 'subprocess' in sys.modules\n"
    assert value(box, Program({"seed.py": source})) is False


def test_one_session_at_a_time(box: Box) -> None:
    """A second one is refused while the first is open."""
    with box.open(_ANSWER, "seed", 10), pytest.raises(SandboxError, match="leave its `with` block first"):
        box.open(_ANSWER, "seed", 10)
    assert value(box) == 42


def test_many_sessions_leave_nothing(box: Box, processes: Callable[[str], list[int]]) -> None:
    """No descriptor, no process, no file."""
    folder = value(box, Program({"seed.py": "import os\ndef f(): return os.environ['TMPDIR']"}))
    before = len(list(Path("/proc/self/fd").iterdir()))
    (template,) = processes(str(folder))
    theirs = len(list(Path(f"/proc/{template}/fd").iterdir()))
    for _ in range(200):
        assert value(box) == 42
    assert len(list(Path("/proc/self/fd").iterdir())) <= before  # what earlier tests left may have gone meanwhile
    assert len(list(Path(f"/proc/{template}/fd").iterdir())) == theirs
    assert processes(str(folder)) == [template]
    assert Path(f"/proc/{template}/task/{template}/children").read_text() == ""
    assert list(Path(str(folder)).iterdir()) == []


def test_no_tracer_enters_a_candidate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the judge is being measured, coverage would start itself in every Python that inherits its variables."""
    (tmp_path / "settings").write_text("[run]\n")
    for name in ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "settings"))
    source = "import sys\ndef f(): return ['coverage' in sys.modules, sys.gettrace() is None]"
    box = Box(Limits())
    try:
        assert value(box, Program({"seed.py": source})) == [False, True]
    finally:
        box.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets it be raised again")
def test_with_a_gpu_as_much_memory_may_be_locked_as_is_permitted() -> None:
    """Without one it stays at what the judge has."""
    before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, before[1]))
    source = "import resource\ndef f(): return list(resource.getrlimit(resource.RLIMIT_MEMLOCK))"
    try:
        found = []
        for gpu in (0, 1):
            box = Box(Limits(grants=Grants(gpu=gpu)))
            found.append(value(box, Program({"seed.py": source})))
            box.close()
        assert found == [[4096, before[1]], [before[1], before[1]]]
    finally:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, before)


def test_what_is_preloaded_is_there() -> None:
    """Imported once, in the template."""
    box = Box(Limits(preload=("colorsys",)))
    try:
        source = "import sys\nloaded = 'colorsys' in sys.modules\ndef f(): return [loaded, 'evolve' in sys.modules, sys.argv]"
        assert value(box, Program({"seed.py": source})) == [True, False, ["-c"]]
    finally:
        box.close()


def test_hashes_of_texts_are_the_same_in_every_template() -> None:
    """A program that walks over a set does so in the same order each time."""
    program = Program({"seed.py": "def f(): return hash('text')"})
    found = []
    for _ in range(2):
        box = Box(Limits())
        found.append(value(box, program))
        box.close()
    assert found[0] == found[1]


def test_a_template_that_died_between_sessions_is_replaced(box: Box, processes: Callable[[str], list[int]]) -> None:
    """Without a failure: nothing of a candidate was lost."""
    folder = value(box, Program({"seed.py": "import os\ndef f(): return os.environ['TMPDIR']"}))
    (template,) = processes(str(folder))
    os.kill(template, signal.SIGKILL)
    while ") Z " not in Path(f"/proc/{template}/stat").read_text():  # until then its end of the socket may be open
        time.sleep(0.01)
    assert value(box) == 42
    assert not Path(str(folder)).exists()


def test_a_python_that_fails_later_is_our_own_failure(tmp_path: Path) -> None:
    """The interpreter is gone when a new template is needed: an error, not an outcome."""
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    box = Box(Limits(), str(python))
    python.unlink()
    try:
        with (
            pytest.raises(SessionFailed) as caught,
            box.open(Program({"seed.py": "import os\ndef f(): os.kill(os.getppid(), 9)"}), "seed", 10) as session,
        ):
            session.call("f")
        assert caught.value.status is Status.BROKEN
        with pytest.raises(SandboxError, match="no candidate process can be started"):
            box.open(_ANSWER, "seed", 10)
    finally:
        box.close()


_JUDGE = """
import sys
from evolve.sandbox.box import Box
from evolve.types import Grants, Limits, Program
source = '''
import os, signal, time
def daemonize():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(300)
        os._exit(0)
    os.wait()
    return os.environ["TMPDIR"]
def hang():
    time.sleep(300)
'''
with Box(Limits()).open(Program({"seed.py": source}), "seed", 250) as session:
    print(session.call("daemonize"), flush=True)
    session.call("hang")
"""


def test_a_judge_that_is_killed_leaves_nothing(processes: Callable[[str], list[int]]) -> None:
    """In the middle of a call, with a candidate that has left a daemon: no process and no folder after some seconds."""
    judge = subprocess.Popen([sys.executable, "-c", _JUDGE], stdout=subprocess.PIPE, text=True)
    assert judge.stdout is not None
    folder = judge.stdout.readline().strip()
    living = len(processes(folder))
    judge.kill()
    judge.wait()
    judge.stdout.close()
    deadline = time.monotonic() + 10
    while (processes(folder) or Path(folder).parent.exists()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (living, processes(folder), Path(folder).parent.exists()) == (3, [], False)


def test_a_tree_of_any_depth_is_removed_where_the_template_is_lost() -> None:
    """Deeper than Python's own removal goes: nobody else is left to remove it."""
    box = Box(Limits())
    folder = Path(str(value(box, Program({"seed.py": "import os\ndef f(): return os.environ['TMPDIR']"}))))
    source = "import os\ndef f():\n for _ in range(1200):\n  os.mkdir('d')\n  os.chdir('d')\n os.kill(os.getppid(), 9)\n os._exit(0)"
    with pytest.raises(SessionFailed):
        value(box, Program({"seed.py": source}))
    box.close()
    assert not folder.parent.exists()


def test_a_box_in_which_nothing_can_run_is_none() -> None:
    """A module that each fresh interpreter should import, and cannot, is no program's fault."""
    limits = Limits(preload=("no_such_module_x",), grants=Grants(template=False))
    with pytest.raises(
        SandboxError,
        match=r"no program can run in the candidates' box: .*No module named 'no_such_module_x'.*Try: correct `sandbox` in the task's file",
    ):
        Box(limits)


class Unconfined:
    """A template whose forks end before they are candidates."""

    def __init__(self, *_: object) -> None:
        self._ours, self._theirs = socket.socketpair()

    def fileno(self) -> int:
        return self._ours.fileno()

    def open(self, seconds: float, files: object, job: str) -> None:
        pass

    def end(self, patience: float) -> SessionReport:
        return SessionReport(1, False, 0.0, 0, 0, problem="setresuid: Operation not permitted")

    def close(self) -> None:
        self._ours.close()
        self._theirs.close()


def test_a_machine_that_cannot_confine_is_not_the_tasks_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remedy names the machine and no key of the task's file."""
    monkeypatch.setattr(TemplateProcess, "start", Unconfined)
    with pytest.raises(SandboxError, match=r"broken: .*setresuid: .*Try: run `evolve sandbox probe`") as caught:
        Box(Limits())
    assert "`sandbox`" not in str(caught.value)


# --- a template that something has stopped


def of_template(box: Box) -> int:
    """Its pid: the one process below the outer one, where it has a namespace of its own."""
    assert box._template is not None
    outer = box._template.pid
    return children(outer)[0] if box._means.namespaces else outer


ANSWERS = Program({"seed.py": "import time\ndef f(seconds):\n    time.sleep(seconds)\n    return 1\n"})


@pytest.mark.parametrize("level", LEVELS)
def test_a_template_that_is_stopped_is_no_fault_of_the_program(
    level: tuple[Means, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither before the program begins nor at its end; the next one is evaluated in a new template."""
    monkeypatch.setattr(template_process, "_CLEANING", 0.5)
    monkeypatch.setattr(template_process, "_PATIENCE", 0.2)
    with opened(level) as box:
        os.kill(of_template(box), signal.SIGSTOP)
        with pytest.raises(SessionFailed) as before, box.open(ANSWERS, "seed", 0.5) as session:
            session.call("f", 0.0)
        session = box.open(ANSWERS, "seed", 10)
        assert session.call("f", 0.0) == 1
        os.kill(of_template(box), signal.SIGSTOP)
        after = session.close()
        assert after is not None
        for failure in (before.value, after):
            assert (failure.status, "was stopped" in failure.message) == (Status.BROKEN, True)
        with box.open(ANSWERS, "seed", 10) as session:
            assert session.call("f", 0.0) == 1


def test_a_program_that_began_late_is_not_blamed_for_its_time() -> None:
    """Its template was stopped for most of it, and is well again. One that had its time is."""
    with contextlib.closing(Box(Limits(memory=1 << 30))) as box:
        template = of_template(box)
        os.kill(template, signal.SIGSTOP)
        timer = threading.Timer(1.5, os.kill, (template, signal.SIGCONT))
        timer.start()
        with pytest.raises(SessionFailed) as caught, box.open(ANSWERS, "seed", 2.0) as session:
            session.call("f", 1.0)
        timer.join()
        late = re.search(r"began this program 1\.\d s late", caught.value.message)
        assert (caught.value.status, bool(late)) == (Status.BROKEN, True)
        with pytest.raises(SessionFailed) as caught, box.open(ANSWERS, "seed", 0.5) as session:
            session.call("f", 1.0)
        assert caught.value.status is Status.TIMEOUT
