"""The engine's end of the spawner: starts it with a clean environment and asks it for workers.

Invariant: no variable of the engine's environment that is not named here reaches a judge process."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolve.sandbox.inner.scratch import remove_tree
from evolve.sandbox.kernel import ATTACH
from evolve.types import SandboxError

_ALLOWED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_SPAWNER = "import sys; from evolve.evaluation.spawner import main; main(int(sys.argv[1]), *sys.argv[2:])"
_MESSAGE = 1 << 12
_PATIENCE = 4.0


def clean_environment(engine: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the engine's environment that a worker gets; modules are found where the engine finds them. Its home is the user's, for
    an evaluator is trusted, and may need what is kept there; a candidate's is its own folder."""
    kept = {name: engine[name] for name in _ALLOWED if name in engine}
    if engine.get("EVOLVE_DEBUG") == ATTACH:
        kept["EVOLVE_DEBUG"] = ATTACH
    modules = os.pathsep.join(path for path in sys.path if path)
    return {**kept, **_SINGLE_THREADED, "PYTHONPATH": modules, "PYTHONHASHSEED": "0"}


@dataclass
class Lifeline:
    """A running spawner, whose workers run in `python` and keep their temporary files in `folder`. Not thread-safe: started by one thread, then used by one other."""

    control: socket.socket
    process: "subprocess.Popen[bytes]"
    python: str
    folder: str

    @classmethod
    def start(cls, python: str = "") -> "Lifeline":
        """Starts the spawner in a session of its own, so that a Ctrl-C is the engine's alone; raises `SandboxError`. Its workers run
        in `python`; empty: the engine's own."""
        folder = _temporary_folder()
        try:
            return cls(*_start_spawner(python, folder), python, folder)
        except SandboxError:
            remove_tree(folder)
            raise

    def restart(self) -> None:
        """Replaces a spawner that has ended; raises `SandboxError`."""
        self._end()
        if not Path(self.folder).is_dir():  # one that ended by itself has removed it
            self.folder = _temporary_folder()
        self.control, self.process = _start_spawner(self.python, self.folder)

    def ask_worker(self, slot: int, sock: socket.socket, output: int) -> None:
        """Asks for a worker that talks on `sock` and prints to `output`; the caller keeps and closes both."""
        socket.send_fds(self.control, [json.dumps({"start": slot}).encode()], [sock.fileno(), output])

    def kill_worker(self, slot: int) -> None:
        """Asks for the end of a worker; harmless where it has ended."""
        self.control.send(json.dumps({"kill": slot}).encode())

    def receive(self) -> Mapping[str, Any] | None:
        """Receives the next message, `{"ended": slot, "code": exit code}`; None when the spawner is gone."""
        data = self.control.recv(_MESSAGE)
        return json.loads(data) if data else None

    def close(self) -> None:
        """Ends the spawner and with it every descendant; waits for that, for a few seconds at most."""
        self._end()
        remove_tree(self.folder)  # one that was killed has not

    def _end(self) -> None:
        self.control.close()
        try:
            self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _temporary_folder() -> str:
    """A new folder, below `TMPDIR` as it is now where there is such a folder; raises `SandboxError`."""
    temporary = os.environ.get("TMPDIR") or None
    try:
        return tempfile.mkdtemp(
            prefix="evolve-judge-", dir=temporary if temporary and Path(temporary).is_dir() else None
        )
    except OSError as error:
        raise SandboxError(
            f"there is no temporary folder for the judges: {error}. Do: set TMPDIR to a folder with room"
        ) from error


def _start_spawner(python: str, folder: str) -> "tuple[socket.socket, subprocess.Popen[bytes]]":
    """A new spawner, and our end of its control socket; raises `SandboxError`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-P", "-c", _SPAWNER, str(theirs.fileno()), python, folder]
    with theirs:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=clean_environment(os.environ),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise SandboxError(
                f"the judge's spawner does not start: {error}. Do: check that {sys.executable} can be run"
            ) from error
    return ours, process
