"""The process between the engine and its judge workers: it starts them, and nothing that they start outlives it.

A program of its own (`python -c ... main(3, "", FOLDER)`), single-threaded, without the engine's memory or keys. The engine's end of the
control socket is its lifeline: however the engine ends, the end of file there ends every descendant.

Invariant: when this process exits it has no descendant, and the temporary folder of its workers and their control groups are gone."""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolve.evaluation.children import Children, OwnChildren, adopt_orphans
from evolve.evaluation.interpreter import worker_command, worker_environment
from evolve.sandbox.inner.scratch import remove_tree
from evolve.sandbox.kernel import close_to_others
from evolve.sandbox.walls import cgroup

GRACE = 1.0
"""Seconds that what a dead worker left gets to clean up after itself, before it is killed."""
_LOOK = 1.0
"""Seconds between two looks for processes whose parents have ended while their worker lives: a template that something has killed leaves such."""
_STEP = 0.01
_MESSAGE = 1 << 12


@dataclass
class Spawner:
    """The workers by slot, all of one `python` (empty: the engine's own). Messages in: `{"start": slot}` with two descriptors (the worker's socket, its output), `{"kill": slot}`;
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
        """Until the engine's end of file; `ended` becomes readable whenever a child has ended."""
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
        elif message["kill"] in self.workers:
            self.children.kill(self.workers[message["kill"]])
        return True

    def _start(self, slot: int, sock: int, output: int) -> None:
        command = worker_command(self.python, os.getpid())
        environment = worker_environment(self.python, self.environment)
        try:
            self.workers[slot] = self.children.start(command, {1: output, 2: output, 3: sock}, environment)
        finally:
            os.close(sock)
            os.close(output)

    def collect(self) -> None:
        """Reaps what has ended, tells of workers, and plans to sweep up what they leave."""
        slots = {pid: slot for slot, pid in self.workers.items()}
        for pid, code in self.children.reap():
            if pid in slots:
                del self.workers[slots[pid]]
                self.sweep_at = self.clock() + GRACE
                self._tell({"ended": slots[pid], "code": code})

    def _tell(self, message: Mapping[str, int]) -> None:
        try:
            self.control.send(json.dumps(message).encode())
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


def main(control: int, python: str, folder: str) -> None:
    """The whole life of a spawner; `control` is the number of its socket, `python` what its workers run in, `folder` their temporary one."""
    close_to_others()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    adopt_orphans()
    ended, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    cgroup.sweep()  # what one that was killed itself has left
    Path(folder).chmod(0o711)  # candidates who are another user come through it to the folder that is theirs
    spawner = Spawner(socket.socket(fileno=control), OwnChildren(), {**os.environ, "TMPDIR": folder}, python)
    try:
        spawner.serve(ended)
    finally:
        spawner.end()
        cgroup.sweep()
        remove_tree(folder)
