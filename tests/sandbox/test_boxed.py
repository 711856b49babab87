"""What a candidate finds in a box, at the best level that this machine has; what it may not do is the corpus's matter."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import Means
from evolve.sandbox.status import SessionFailed, Status
from evolve.types import Grants, Level, Limits, Program

pytestmark = pytest.mark.integration

MEANS = probe().means
FILES = """
import os

def listed(path):
    return sorted(os.listdir(path))

def written(path):
    with open(path, "w") as file:
        return file.write("words")

def state():
    found = os.stat(".")
    return [os.getcwd(), oct(found.st_mode & 0o777), found.st_uid == os.getuid(), os.listdir("."), os.listdir("/dev/shm")]

def touched():
    os.utime(".", (1, 1))
    return True

def times():
    return os.stat(".").st_mtime > 1000

def sent(port):
    import socket
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            client.sendall(b"through")
            return server.accept()[0].recv(9).decode()

def reply():
    return 42

def memory(name):
    return os.memfd_create(name) >= 0

def named(whose):
    import threading
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        number = thread.native_id if whose == "own" else whose
        with open(f"/proc/{os.getpid() if whose == 'own' else whose}/task/{number}/comm", "r+") as file:
            file.write("a worker")
        with open(f"/proc/self/task/{number}/comm") as file:
            return file.read()
    except OSError as error:
        return type(error).__name__
    finally:
        done.set()
        thread.join()

def command():
    import subprocess
    return subprocess.run(["echo", "ran"], capture_output=True, text=True).stdout
"""
PROGRAM = Program({"files.py": FILES})


def boxed(grants: Grants | None = None, means: Means = MEANS) -> Box:
    return Box(Limits(grants=grants or Grants()), means=means)


def answer(box: Box, function: str, *arguments: object) -> object:
    with box.open(PROGRAM, "files", 20) as session:
        return session.call(function, *arguments)


needs_strict = pytest.mark.skipif(MEANS.level is not Level.STRICT, reason=f"this machine reaches {MEANS.line}")


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    made = boxed()
    yield made
    made.close()


@needs_strict
def test_the_root_is_small_and_holds_nothing_of_the_user(box: Box) -> None:
    """Neither a home folder's content nor the machine's devices."""
    shown = answer(box, "listed", "/")
    assert isinstance(shown, list)
    assert {"dev", "proc", "usr", "tmp", "candidate"} <= set(shown)
    assert not {"boot", "mnt", "opt", "run", "srv", "sys"} & set(shown)
    assert answer(box, "listed", "/dev") == sorted(
        ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    )


@needs_strict
def test_each_session_starts_in_folders_that_nobody_has_touched(box: Box) -> None:
    """Whatever the last one did to them, were it to their times alone."""
    fresh = ["/candidate/scratch", "0o700", True, [], []]
    assert answer(box, "state") == fresh
    # A tree that shows an interpreter below /tmp has no such folder to write in.
    usual = [] if sys.prefix.startswith("/tmp/") else ["/tmp/other"]
    for path in ("file", "/dev/shm/shared", *usual):
        assert answer(box, "written", path) == 5
        assert answer(box, "state") == fresh
    assert answer(box, "touched")
    assert answer(box, "times")


@needs_strict
def test_a_loopback_of_its_own_is_a_grant() -> None:
    """Without it there is no socket at all; with it a program can talk to itself."""
    granted = boxed(Grants(network="loopback"))
    assert answer(granted, "sent", 0) == "through"
    granted.close()


@needs_strict
@pytest.mark.parametrize(
    ("function", "arguments", "grants"),
    [
        ("sent", (0,), Grants()),
        ("memory", ("m",), Grants()),
        ("command", (), Grants(execute=False)),
    ],
)
def test_what_is_not_granted_is_refused(function: str, arguments: tuple[object, ...], grants: Grants) -> None:
    """As an error of the program, and the next session is as good as any."""
    made = boxed(grants)
    with pytest.raises(SessionFailed, match="PermissionError") as caught:
        answer(made, function, *arguments)
    assert caught.value.status is Status.ERROR
    assert answer(made, "reply") == 42
    made.close()


@needs_strict
@pytest.mark.parametrize(
    ("function", "arguments", "grants", "wanted"),
    [("memory", ("m",), Grants(memfd=True), True), ("command", (), Grants(), "ran\n")],
)
def test_what_is_granted_works(function: str, arguments: tuple[object, ...], grants: Grants, wanted: object) -> None:
    """Each grant by its name."""
    made = boxed(grants)
    assert answer(made, function, *arguments) == wanted
    made.close()


@needs_strict
def test_a_crash_calls_no_program_of_the_host(box: Box) -> None:
    """The kernel spares a process whose limit on core dumps is 1, and it cannot be changed."""
    core = Program(
        {
            "limit.py": "import ctypes, os\n"
            "def lowered():\n"
            "    return [ctypes.CDLL(None).setrlimit(4, (ctypes.c_long * 2)(0, 0)), open('/proc/self/limits').read()]\n"
        }
    )
    with box.open(core, "limit", 20) as session:
        result, limits = session.call("lowered")
    assert result == -1
    assert re.search(r"^Max core file size +1 +1 ", limits, re.MULTILINE)


@needs_strict
def test_a_fresh_interpreter_is_in_the_same_box() -> None:
    """With the same folders and the same refusals."""
    made = boxed(Grants(template=False))
    assert answer(made, "state") == ["/candidate/scratch", "0o700", True, [], []]
    with pytest.raises(SessionFailed, match="PermissionError"):
        answer(made, "sent", 0)
    made.close()


@needs_strict
def test_a_granted_folder_can_be_read_and_nothing_beside_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nor can it be written."""
    folder = tmp_path_factory.mktemp("granted")
    (folder / "data").mkdir()
    (folder / "data" / "table.csv").write_text("1,2\n")
    (folder / "other").write_text("")
    for place in (folder, folder / "data"):
        place.chmod(0o755)
    (folder / "data" / "table.csv").chmod(0o644)
    made = boxed(Grants(read=(os.fspath(folder / "data"),)))
    assert answer(made, "listed", os.fspath(folder / "data")) == ["table.csv"]
    assert answer(made, "listed", os.fspath(folder)) == ["data"]
    with pytest.raises(SessionFailed, match=r"PermissionError|Read-only"):
        answer(made, "written", os.fspath(folder / "data" / "new"))
    made.close()


PRIVATE = Program(
    {
        "seed.py": """
import os

def look(data):
    import bz2, ctypes, decimal, numpy.linalg, sqlite3, ssl, zoneinfo
    with open("/proc/self/mounts") as mounts:
        kinds = sorted({line.split()[2] for line in mounts if not line.split()[1].startswith("/dev") and not line.split()[1].endswith("/large")})
    with open(data) as file:
        text = file.read()
    with open(os.path.dirname(data) + "/large", "rb") as large:
        size = large.seek(0, os.SEEK_END)
        held = bool(~os.fstatvfs(large.fileno()).f_flag & (os.ST_RDONLY | os.ST_NOEXEC))
    held |= os.access(data, os.W_OK) or os.access(data, os.X_OK)
    return [kinds, text, size, held, os.path.exists("/usr/bin/env"), float(numpy.linalg.det(numpy.eye(3)))]

def tested():
    import test
"""
    }
)


@needs_strict
@pytest.mark.parametrize("template", [True, False])
def test_a_private_box_holds_copies_of_what_python_needs(
    tmp_path_factory: pytest.TempPathFactory, template: bool
) -> None:
    """No file system of the machine is mounted in it, but for a large file, so that nothing which is remembered of its files is shared."""
    pytest.importorskip("numpy")
    data = tmp_path_factory.mktemp("granted") / "data"
    data.mkdir(0o755)
    (data.parent).chmod(0o755)
    (data / "table.csv").write_text("1,2\n")
    (data / "table.csv").chmod(0o755)
    with open(data / "large", "wb") as large:
        large.truncate(65 << 20)
    grants = Grants(private=True, template=template, read=(os.fspath(data), f"{data}.none"))
    made = Box(Limits(preload=("numpy",), grants=grants), means=MEANS)
    with made.open(PRIVATE, "seed", 20) as session:
        assert session.call("look", os.fspath(data / "table.csv")) == [
            ["proc", "ramfs", "tmpfs"],
            "1,2\n",
            65 << 20,
            False,
            False,
            1.0,
        ]
    with pytest.raises(SessionFailed, match="No module named 'test'"), made.open(PRIVATE, "seed", 20) as session:
        session.call("tested")
    made.close()


READ_PAGES = Program(
    {
        "seed.py": """
import mmap, os

def read(path):
    with open(path, "rb", buffering=0) as file:
        for place in range(0, 4096 * 64, 8192):
            os.pread(file.fileno(), 1, place)

def told(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 4096 * 64, mmap.MAP_PRIVATE) as mapped:
        for place in range(0, 4096 * 63, 4096):
            mapped[place]
        mapped[4096 * 63] = 1  # so that a fork copies what is mapped, as not used by it
        heard, tell = os.pipe()
        if os.fork() == 0:
            with open("/proc/self/numa_maps") as areas, open("/proc/self/smaps") as flags:
                area = next(line for line in areas if f"file={path} " in line)
                lines = list(flags)
            begin = next(number for number, line in enumerate(lines) if line.split()[-1] == path)
            words = next(line for line in lines[begin:] if line.startswith("Referenced:")).split()[1:2]
            words += [word for word in area.split() if word.startswith("active=")]
            os.write(tell, " ".join(words).encode())
            os._exit(0)
        os.close(tell)
        with open(heard) as words:
            return words.read()
"""
    }
)


@needs_strict
@pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="nothing tells what is marked")
def test_pages_of_a_private_box_do_not_tell_who_has_read_them(tmp_path: Path) -> None:
    """The kernel marks a page that is read as referenced, and then as active, which every process that maps it can see."""
    for folder in (tmp_path, tmp_path.parent):
        folder.chmod(0o755)
    for name, size in (("small", 1 << 20), ("large", 65 << 20)):
        (tmp_path / name).write_bytes(bytes(size))
    made = Box(Limits(grants=Grants(private=True, read=(os.fspath(tmp_path),))), means=MEANS)

    def ask(function: str, name: str) -> object:
        with made.open(READ_PAGES, "seed", 20) as session:
            return session.call(function, os.fspath(tmp_path / name))

    for name in ("small", "large"):
        fresh = ask("told", name)
        assert fresh
        for _ in range(3):
            ask("read", name)
            assert ask("told", name) == fresh
    made.close()


@needs_strict
@pytest.mark.parametrize("cgroup", sorted({"", MEANS.cgroup}))
def test_memory_is_bounded_for_all_processes_together(cgroup: str) -> None:
    """By a control group, or by looking at it; the program ends though it is not the one that is ended for it."""
    made = Box(Limits(memory=256 << 20), means=replace(MEANS, cgroup=cgroup))
    source = (
        "import os, time\n"
        "def fill():\n"
        "    for _ in range(4):\n"
        "        if os.fork() == 0:\n"
        "            kept = b'x' * (100 << 20)\n"
        "            time.sleep(5)\n"
        "            os._exit(0)\n"
        "    time.sleep(5)\n"
    )
    with (
        pytest.raises(SessionFailed, match="used more memory") as caught,
        made.open(Program({"fills.py": source}), "fills", 10) as session,
    ):
        session.call("fill")
    assert caught.value.status is Status.MEMORY_LIMIT
    assert answer(made, "reply") == 42
    made.close()


def test_a_template_is_replaced_after_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can add up in it."""
    monkeypatch.setattr("evolve.sandbox.box._SESSIONS", 2)
    made = Box(Limits())
    source = Program({"p.py": "import os\ndef parent():\n    return os.getppid()\n"})

    def parent() -> object:
        with made.open(source, "p", 10) as session:
            return session.call("parent")

    seen = [parent() for _ in range(4)]
    made.close()
    assert seen[0] == seen[1] != seen[2] == seen[3]


@needs_strict
@pytest.mark.skipif(not MEANS.cgroup, reason="no control group counts here what nobody waits for")
def test_processor_time_is_counted_though_nobody_waits_for_its_processes(box: Box) -> None:
    """Where a program ignores the end of its children, the kernel forgets their time, but their group does not."""
    source = Program(
        {
            "burn.py": "import os, signal, time\n"
            "def burn():\n"
            "    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "    if os.fork() == 0:\n"
            "        while time.process_time() < 0.3:\n"
            "            pass\n"
            "        os._exit(0)\n"
            "    try:\n"
            "        os.wait()\n"
            "    except ChildProcessError:\n"
            "        return True\n"
        }
    )
    with box.open(source, "burn", 20) as session:
        assert session.call("burn")
    assert session.usage.cpu_seconds > 0.25


@needs_strict
def test_with_a_gpu_a_program_names_its_own_threads_and_no_other_processes() -> None:
    """As its driver does, in every session of a template."""
    made = boxed(Grants(gpu=1))
    try:
        assert [answer(made, "named", "own") for _ in range(3)] == ["a worker\n"] * 3
        assert answer(made, "named", 1) in ("PermissionError", "FileNotFoundError")
    finally:
        made.close()


@needs_strict
def test_with_a_gpu_the_children_of_a_program_name_their_threads() -> None:
    """Where they could not, CUDA would not start in a script, nor in the workers of a training."""
    made = boxed(Grants(gpu=1))
    try:
        source = Program({"child.py": CHILD.replace("NAMED", repr(FILES + "\nprint(named('own'), end='')"))})
        with made.open(source, "child", 20) as session:
            assert session.call("ask") == "a worker\n"
    finally:
        made.close()


CHILD = """
import subprocess, sys

def ask():
    done = subprocess.run([sys.executable, "-I", "-c", NAMED], capture_output=True, text=True)
    return done.stdout + done.stderr[-300:]
"""
LOOK = """
import os

def read(path):
    try:
        return open(path).read()
    except OSError:
        return ""

def told():
    found = {}
    for name in os.listdir("/proc"):
        path = "/proc/" + name
        if not name.isdecimal() and not os.path.islink(path):
            found[name] = sorted(os.listdir(path)) if os.path.isdir(path) else len(read(path))
    return {name: what for name, what in found.items() if what}
"""


@needs_strict
@pytest.mark.parametrize("private", [False, True])
def test_what_is_granted_of_the_machines_processes_is_there_and_nothing_else(private: bool) -> None:
    """As a driver's facts are for a GPU; these stand in for them."""
    made = boxed(Grants(gpu=1, private=private, read=("/proc/version", "/proc/sys/kernel/ostype")))
    try:
        with made.open(Program({"look.py": LOOK}), "look", 20) as session:
            assert session.call("read", "/proc/version") == Path("/proc/version").read_text()
            assert session.call("read", "/proc/sys/kernel/ostype") == "Linux\n"
            assert session.call("told") == {"sys": ["kernel"], "version": len(Path("/proc/version").read_text())}
            assert session.call("read", "/proc/self/comm")
    finally:
        made.close()


@needs_strict
def test_sockets_are_bounded_where_memory_is_watched() -> None:
    """What lies in them belongs to no process."""
    made = Box(Limits(), means=replace(MEANS, cgroup=""))
    source = Program(
        {
            "hold.py": "import os, socket, time\n"
            "def hold():\n"
            "    for _ in range(4):\n"
            "        if os.fork() == 0:\n"
            "            held = [socket.socketpair() for _ in range(50)]\n"
            "            time.sleep(5)\n"
            "            os._exit(0)\n"
            "    time.sleep(5)\n"
        }
    )
    with (
        pytest.raises(SessionFailed, match="more than 256 sockets") as caught,
        made.open(source, "hold", 10) as session,
    ):
        session.call("hold")
    assert caught.value.status is Status.MEMORY_LIMIT
    assert answer(made, "reply") == 42
    made.close()
