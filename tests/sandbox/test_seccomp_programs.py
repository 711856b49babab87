"""Programs that people run go on working in the filter, the narrowest as well as the usual one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from evolve.sandbox import kernel
from evolve.sandbox.walls import seccomp
from evolve.sandbox.walls.seccomp import Filter

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not seccomp.is_supported(), reason="no seccomp filter for this machine"),
]

USUAL = Filter()
NARROW = Filter(truncate=True, signals=True, metadata=True)
BOTH = [pytest.param(USUAL, id="usual"), pytest.param(NARROW, id="narrow")]

PROGRAMS = {
    "numpy": "import numpy\nassert numpy.ones((300, 300)).dot(numpy.ones((300, 300))).sum() == 300 ** 3",
    "threads": """
import threading
found = []
threads = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert sorted(found) == list(range(8))""",
    "a pool of processes": """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, 2, -3]) == [1, 2, 3]
        pool.close()
        pool.join()""",
    "futures": """
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(4) as pool: assert list(pool.map(abs, [-1, 2])) == [1, 2]
with concurrent.futures.ProcessPoolExecutor(2) as pool: assert list(pool.map(abs, [-1, 2])) == [1, 2]""",
    "subprocess": """
import subprocess
assert subprocess.run(["/bin/sh", "-c", "cat; exit 3"], input=b"x", capture_output=True).returncode == 3
assert subprocess.check_output("echo $((6 * 7))", shell=True) == b"42\\n" """,
    "asyncio": """
import asyncio
async def main():
    process = await asyncio.create_subprocess_exec("/bin/echo", "hello", stdout=asyncio.subprocess.PIPE)
    found, _ = await process.communicate()
    await asyncio.sleep(0.001)
    return found + await asyncio.to_thread(bytes, 1)
assert asyncio.run(main()) == b"hello\\n\\0" """,
    "temporary files": """
import os, tempfile
with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile(dir=folder) as file:
    file.write(b"x")
    os.rename(file.name, file.name + "2"); os.rename(file.name + "2", file.name)
with tempfile.TemporaryFile("w+") as file: file.write("x")""",
    "copies": """
import os, shutil
open("one", "w").write("1")
shutil.copy("one", "two"); shutil.copy2("one", "three"); shutil.copytree(".", "folder"); shutil.move("two", "four")
shutil.make_archive("packed", "gztar", "folder"); shutil.unpack_archive("packed.tar.gz", "unpacked")
assert open("unpacked/three").read() == "1"
shutil.rmtree("folder")""",
    "faulthandler": "import faulthandler\nfaulthandler.enable()\nfaulthandler.dump_traceback_later(60)\nfaulthandler.cancel_dump_traceback_later()",
    "timers": """
import signal
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
while not seen: signal.pause()
signal.raise_signal(signal.SIGALRM)
assert len(seen) == 2""",
    "mapped files": """
import mmap
with open("mapped", "w+b") as file:
    file.truncate(4096)
    with mmap.mmap(file.fileno(), 4096) as page: page[:4] = b"word"
    assert file.read(4) == b"word" """,
    "own limits": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))\nassert resource.getrlimit(resource.RLIMIT_NOFILE) == (100, 100)",
    "sqlite": "import sqlite3\nwith sqlite3.connect('x.db') as db: db.execute('create table t(a)'); db.execute('insert into t values (1)')",
    "a terminal is asked for": "import os, sys\nassert not sys.stdin.isatty()\nassert os.cpu_count()",
}


def run(argv: list[str], wanted: Filter, folder: Path) -> subprocess.CompletedProcess[str]:
    """The ended process, which entered the filter before it became the program."""

    def enter() -> None:
        os.setsid()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.enter(seccomp.program(wanted, os.getpid()))

    environment = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "OPENBLAS_NUM_THREADS": "2",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    return subprocess.run(
        argv,
        preexec_fn=enter,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("wanted", BOTH)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_python_program_works(name: str, wanted: Filter, tmp_path: Path) -> None:
    ended = run([sys.executable, "-c", PROGRAMS[name]], wanted, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_server_of_ones_own_is_reached_by_its_name(tmp_path: Path) -> None:
    """The C library asks for the machine's addresses over a socket that is closed, and goes on without."""
    source = """
import asyncio, http.server, threading, urllib.request
async def echo(reader, writer):
    writer.write(await reader.readline()); await writer.drain(); writer.close()
async def main():
    async with await asyncio.start_server(echo, "localhost", 0) as server:
        reader, writer = await asyncio.open_connection("localhost", server.sockets[0].getsockname()[1])
        writer.write(b"word\\n")
        found = await reader.readline()
        writer.close()
        return found
assert asyncio.run(main()) == b"word\\n"
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
    threading.Thread(target=server.serve_forever).start()
    assert urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}").status == 200
    server.shutdown()
"""
    ended = run([sys.executable, "-c", source], Filter(loopback=True), tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_compiled_program_works(tmp_path: Path) -> None:
    _write_c(tmp_path)
    assert run(["cc", "-O2", "-o", "program", "program.c"], USUAL, tmp_path).stderr == ""
    assert run(["./program"], USUAL, tmp_path).stdout == "42\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_where_modes_are_held_back_a_compiled_program_is_not_executable(tmp_path: Path) -> None:
    """The linker marks it after it was written. A copy that is made executable at once runs."""
    _write_c(tmp_path)
    assert run(["cc", "-o", "program", "program.c"], NARROW, tmp_path).stderr == ""
    assert (tmp_path / "program").stat().st_mode & 0o111 == 0
    copy = "import os; n = os.open('copy', os.O_CREAT | os.O_WRONLY, 0o700); os.write(n, open('program', 'rb').read()); os.close(n); os.execv('copy', ['copy'])"
    assert run([sys.executable, "-c", copy], NARROW, tmp_path).stdout == "42\n"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("wanted", BOTH)
def test_a_compiled_library_works(wanted: Filter, tmp_path: Path) -> None:
    _write_c(tmp_path)
    assert run(["cc", "-shared", "-fPIC", "-o", "library.so", "program.c"], wanted, tmp_path).stderr == ""
    load = "import ctypes; print(ctypes.CDLL('./library.so').answer())"
    assert run([sys.executable, "-c", load], wanted, tmp_path).stdout == "42\n"


@pytest.mark.parametrize("wanted", BOTH)
def test_the_shell_and_its_tools_work(wanted: Filter, tmp_path: Path) -> None:
    script = """
    set -e
    mkdir one; echo word > one/file; cp -a one two; cp -p one/file three; mv three four; ln -s four five; touch six
    tar -czf packed.tar.gz one; mkdir three; tar -xzf packed.tar.gz -C three; ls -l three/one > list
    find . -name file | sort | head -1; sed -i s/word/WORD/ four; grep -c WORD four; rm -r one two three
    """
    ended = run(["/bin/sh", "-c", script], wanted, tmp_path)
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "./one/file\n1\n")


def test_numpy_is_the_same_inside(tmp_path: Path) -> None:
    ended = run([sys.executable, "-c", "import numpy; print(numpy.__version__)"], NARROW, tmp_path)
    assert ended.stdout.strip() == numpy.__version__


def _write_c(folder: Path) -> None:
    (folder / "program.c").write_text(
        '#include <stdio.h>\nint answer(void) { return 42; }\nint main(void) { printf("%d\\n", answer()); return 0; }\n'
    )
