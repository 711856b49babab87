"""The process between the engine and its evaluation workers, and the engine's end of it: it starts them, and nothing that they start outlives it.

A program of its own (`python -c ... main(3, "", FOLDER)`), single-threaded, without the engine's memory or keys. However the engine ends, the end of file on the
control socket ends every descendant; their temporary folder and their control groups go with them."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve.sandbox import processes
from evolve.sandbox.inner.scratch import remove_tree
from evolve.sandbox.kernel import ATTACH, LINUX, PR_SET_CHILD_SUBREAPER, close_to_others, prctl
from evolve.sandbox.walls import cgroup
from evolve.types import SandboxError, TaskError

OLDEST = (3, 11)
_PACKAGE = Path(__file__).resolve().parents[1]
_WORKER = "import sys; from evolve.evaluation.worker import main; main(int(sys.argv[1]))"
# The package alone, by its place: the folder that it lies in may hold all that is installed beside the engine.
_WORKER_ELSEWHERE = """
import importlib.util, sys
found = importlib.util.spec_from_file_location("evolve", sys.argv[2] + "/__init__.py", submodule_search_locations=[sys.argv[2]])
sys.modules["evolve"] = importlib.util.module_from_spec(found)
found.loader.exec_module(sys.modules["evolve"])
from evolve.evaluation.worker import main
main(int(sys.argv[1]))
"""
# Valid in Pythons of any age, so that one that is too old can say so.
_QUESTION = "import sys; print('\\nevolve asked: %d.%d.%d' % sys.version_info[:3])"
_ANSWER = re.compile(r"^evolve asked: (\d+)\.(\d+)\.(\d+)$", re.MULTILINE)
_ANSWER_SECONDS = 20.0
_SHOWN = 300
_MAKE_ONE = (
    "`uv venv --python 3.12 FOLDER`, `conda create -p FOLDER python=3.12 numpy` or `python3 -m venv FOLDER` makes one"
)


def worker_command(python: str, spawner: int) -> list[str]:
    """Returns the command of an evaluation worker; an empty `python` is the engine's own."""
    options = ["-P", "-X", "faulthandler", "-c"]
    if not python:
        return [sys.executable, *options, _WORKER, str(spawner)]
    return [python, *options, _WORKER_ELSEWHERE, str(spawner), str(_PACKAGE)]


def worker_environment(python: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of a worker: another Python has modules of its own."""
    return {name: value for name, value in environment.items() if not python or name != "PYTHONPATH"}


def check_python(python: str) -> None:
    """Starts the task's Python once and asks for its version; raises `TaskError` where it cannot be used, with the remedy."""
    reason = _unusable(python, worker_environment(python, clean_environment(os.environ)))
    if reason:
        raise TaskError(f"the task's Python, {python!r} ([environment] in task.toml), {reason}")


def _unusable(python: str, environment: dict[str, str]) -> str:
    """Returns the reason that a Python cannot be used, with its remedy; empty where it can."""
    try:
        asked = subprocess.run(
            [python, "-E", "-s", "-c", _QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            cwd=os.sep,
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"has not answered within {_ANSWER_SECONDS:g} seconds. Try: try it by hand, or name another"
    except OSError as error:
        return (
            f"cannot be run: {error.strerror}. Try: correct its path, which names the interpreter itself; {_MAKE_ONE}"
        )
    answer = _ANSWER.search(asked.stdout.decode("utf-8", "replace"))
    if asked.returncode or answer is None:
        words = " ".join(asked.stderr.decode("utf-8", "replace").split())[-_SHOWN:]
        return f"does not answer as a Python does (exit code {asked.returncode}{words and ': ' + words}). Try: try it by hand, or name another; {_MAKE_ONE}"
    if tuple(map(int, answer.groups())) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        return f"is Python {'.'.join(answer.groups())}, and workers need {wanted} or newer. Try: name a newer one; {_MAKE_ONE}"
    return ""


_ALLOWED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_SPAWNER = "import sys; from evolve.evaluation.spawner import main; main(int(sys.argv[1]), *sys.argv[2:])"
_MESSAGE = 1 << 12
_CLOSE_SECONDS = 4.0
GRACE = 1.0
"""Seconds that the children of a dead worker get to clean up after themselves, before they are killed."""
_LOOK = 1.0
"""Seconds between two looks for processes whose parents have ended while their worker lives: a template that something has killed leaves such."""
_STEP = 0.01


def clean_environment(engine: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the engine's environment that a worker gets, and no key among them; modules are found where the engine finds them. Its home is the user's, for
    an evaluator is trusted, and may need what is kept there; a candidate's is its own folder."""
    kept = {name: engine[name] for name in _ALLOWED if name in engine}
    # The one value that lets a debugger attach to all of these processes; any other concerns the engine alone.
    if engine.get("EVOLVE_DEBUG") == ATTACH:
        kept["EVOLVE_DEBUG"] = ATTACH
    modules = os.pathsep.join(path for path in sys.path if path)
    return {**kept, **_SINGLE_THREADED, "PYTHONPATH": modules, "PYTHONHASHSEED": "0"}


class SpawnerProcess:
    """A running spawner, whose workers run in `python` (empty: the engine's own) and keep their temporary files in a folder below `TMPDIR`. Not thread-safe: made by one
    thread, then used by one other. Raises `SandboxError`."""

    def __init__(self, python: str = "") -> None:
        self._folder = _temporary_folder()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _SPAWNER, str(theirs.fileno()), python, self._folder],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=clean_environment(os.environ),
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,  # so that a Ctrl-C is the engine's alone
                )
        except OSError as error:
            self.control.close()
            remove_tree(self._folder)
            raise SandboxError(
                f"the workers' spawner does not start: {error}. Try: check that {sys.executable} can be run"
            ) from error

    def start_worker(self, slot: int, sock: socket.socket, output: int) -> None:
        """Asks for a worker that talks on `sock` and prints to `output`; the caller keeps and closes both."""
        socket.send_fds(self.control, [json.dumps({"start": slot}).encode()], [sock.fileno(), output])

    def kill_worker(self, slot: int) -> None:
        """Asks for the end of a worker; harmless where it has ended."""
        self.control.send(json.dumps({"kill": slot}).encode())

    def abort_worker(self, slot: int) -> None:
        """Has a worker print where it is, and end; one that is stopped does neither."""
        self.control.send(json.dumps({"abort": slot}).encode())

    def receive(self) -> Mapping[str, Any] | None:
        """Receives the next message, `{"ended": slot, "code": exit code}`; None when the spawner is gone."""
        data = self.control.recv(_MESSAGE)
        return json.loads(data) if data else None

    def kill(self) -> None:
        """Ends a spawner that does not answer, and with it every descendant."""
        self.process.kill()

    def close(self) -> None:
        """Ends the spawner and with it every descendant; waits for that, for a few seconds at most."""
        self.control.close()
        try:
            self.process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        remove_tree(self._folder)  # one that was killed has not


def _temporary_folder() -> str:
    """Returns a new folder, below `TMPDIR` as it is now where there is such a folder."""
    temporary = os.environ.get("TMPDIR") or None
    try:
        return tempfile.mkdtemp(
            prefix="evolve-judge-", dir=temporary if temporary and Path(temporary).is_dir() else None
        )
    except OSError as error:
        raise SandboxError(
            f"there is no temporary folder for the workers: {error}. Try: set TMPDIR to a folder with room"
        ) from error


class Children:
    """The child processes of this process, which is single-threaded: a child's number stays its own until `reap` has returned it."""

    def start(self, command: Sequence[str], files: Mapping[int, int], environment: Mapping[str, str]) -> int:
        """Starts a program with the descriptors `files`, here by their number there, and no others but an empty standard input; returns its pid."""
        empty = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        copies = [(os.POSIX_SPAWN_DUP2, here, there) for there, here in sorted(files.items())]
        handled = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE]
        return os.posix_spawn(command[0], list(command), environment, file_actions=[empty, *copies], setsigdef=handled)

    def all(self) -> set[int]:
        """Returns all children, adopted ones and zombies too, by a walk over all processes: the kernel's own list may miss one while another ends."""
        return set(processes.by_parent().get(os.getpid(), ()))

    def peek(self) -> set[int]:
        """Returns the children by the kernel's own list, which costs next to nothing."""
        return set(processes.children(os.getpid()))

    def kill(self, pid: int) -> None:
        """Ends a child that was not reaped; one that has ended already is a zombie and takes no harm."""
        os.kill(pid, signal.SIGKILL)

    def abort(self, pid: int) -> None:
        """Has a child print its traceback and end, where it has enabled `faulthandler`."""
        os.kill(pid, signal.SIGABRT)

    def reap(self) -> list[tuple[int, int]]:
        """Returns pid and exit code (negative: the signal) of the children that have ended; does not wait."""
        ended: list[tuple[int, int]] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return ended
            if pid == 0:
                return ended
            ended.append((pid, os.waitstatus_to_exitcode(status)))


@dataclass
class Spawner:
    """The workers by slot, all of one `python`. Messages in: `{"start": slot}` with two descriptors (the worker's socket, its output), `{"kill": slot}`, `{"abort": slot}`;
    messages out: `{"ended": slot, "code": exit code}`."""

    control: socket.socket
    children: Children
    environment: Mapping[str, str]
    python: str = ""
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    workers: dict[int, int] = field(default_factory=dict)
    sweep_at: float | None = None

    def serve(self, ended: socket.socket) -> None:
        """Serves until the engine's end of file; `ended` becomes readable whenever a child has ended."""
        while True:
            wait = _LOOK if self.sweep_at is None else max(0.0, self.sweep_at - self.clock())
            ready, _, _ = select.select([self.control, ended], [], [], wait)
            if ended in ready:
                ended.recv(_MESSAGE)
                self.collect()
            if self.sweep_at is not None and self.clock() >= self.sweep_at:
                self.sweep_at = None
                self.sweep()
            self.look()
            if self.control in ready and not self.obey():
                return

    def obey(self) -> bool:
        """Does what the next message says; False at its end of file."""
        data, files, _, _ = socket.recv_fds(self.control, _MESSAGE, 2)
        if not data:
            return False
        message = json.loads(data)
        if "start" in message:
            self._start(message["start"], *files)
        elif message.get("kill") in self.workers:
            self.children.kill(self.workers[message["kill"]])
        elif message.get("abort") in self.workers:
            self.children.abort(self.workers[message["abort"]])
        return True

    def _start(self, slot: int, sock: int, output: int) -> None:
        command = worker_command(self.python, os.getpid())
        environment = worker_environment(self.python, self.environment)
        try:
            # Not by `subprocess`: its bookkeeping would reap, and waits for, children of its own.
            self.workers[slot] = self.children.start(command, {1: output, 2: output, 3: sock}, environment)
        finally:
            os.close(sock)
            os.close(output)

    def collect(self) -> None:
        """Reaps what has ended, reports workers, and plans to sweep up what they leave."""
        slots = {pid: slot for slot, pid in self.workers.items()}
        for pid, code in self.children.reap():
            if pid in slots:
                del self.workers[slots[pid]]
                self.sweep_at = self.clock() + GRACE
                try:
                    self.control.send(json.dumps({"ended": slots[pid], "code": code}).encode())
                except OSError:  # the engine is gone, which the next read of the control socket finds
                    return

    def look(self) -> None:
        """Plans to sweep up orphans, where there are any: a worker's descendants are never this process's children while all is well."""
        if self.sweep_at is None and self.children.peek() - set(self.workers.values()):
            self.sweep_at = self.clock() + GRACE

    def sweep(self) -> None:
        """Ends every process that was left to this one. A killed one leaves its own children here: again until there is none."""
        while strays := self.children.all() - set(self.workers.values()):
            for pid in strays:
                self.children.kill(pid)
            self.sleep(_STEP)
            self.collect()

    def end(self) -> None:
        """Ends every descendant: workers at once, what they leave when it has had its time."""
        for pid in self.workers.values():
            self.children.kill(pid)
        deadline = self.clock() + GRACE
        while self.clock() < deadline and (self.workers or self.children.all()):
            self.sleep(_STEP)
            self.collect()
        self.sweep()


def adopt_orphans() -> None:
    """Makes this process the parent of all its descendants that lose theirs, where the system can (Linux)."""
    if LINUX:
        prctl(PR_SET_CHILD_SUBREAPER, 1)


def main(control: int, python: str, folder: str) -> None:
    """Lives a spawner's whole life; `control` is the number of its socket, `python` what its workers run in, `folder` their temporary one."""
    close_to_others()
    # The engine decides when its workers end: a signal to the whole group would end them before their reports are in.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler, nothing is written to the wake-up socket
    cgroup.sweep()  # what one that was killed itself has left
    Path(folder).chmod(0o711)  # candidates who are another user come through it to the folder that is theirs
    spawner = Spawner(socket.socket(fileno=control), Children(), {**os.environ, "TMPDIR": folder}, python)
    try:
        spawner.serve(ended)
    finally:
        spawner.end()
        cgroup.sweep()
        remove_tree(folder)
