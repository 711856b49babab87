"""One run of an external program: a question to its stdin, a bounded answer from its stdout.

Invariant: no process of its group outlives the run, and no output is held beyond the bound."""

import errno
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from evolve.models.lifeline import Lifeline
from evolve.sandbox.output import Tail
from evolve.types import ModelDown, ModelError, ModelGone

LONGEST_OUTPUT = 1 << 22
"""Bytes."""
_LONGEST_ERRORS = 4000
_LOOK_SECONDS = 0.1
"""Between two looks at the clock, at whether the run was cancelled, and at whether the program has ended."""
_CHUNK = 1 << 16
_NO_PROGRAM = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code (below 0: a signal), what it wrote, and the end of its stderr."""

    code: int
    output: bytes
    errors: str


def run(
    argv: Sequence[str],
    question: bytes,
    environment: Mapping[str, str],
    lifeline: Lifeline,
    deadline: float,
    cancelled: threading.Event,
) -> Ended:
    """Runs a program in a session of its own, which ends with the engine at the latest. Raises `ModelError` when it takes too long or says too much, or is cancelled; `ModelGone`
    where there is no such program."""
    with _started(argv, environment, lifeline) as process, selectors.DefaultSelector() as selector:
        dialogue = _Dialogue(process, question, selector)
        while not dialogue.step():
            if cancelled.is_set():
                raise ModelError("the call was cancelled, and its program ended")
            if time.monotonic() >= deadline:
                raise ModelError(
                    f"the command {argv[0]!r} took too long and was ended. Do: raise the model's `timeout_seconds`"
                )
            if len(dialogue.output) > LONGEST_OUTPUT:
                raise ModelError(
                    f"the command {argv[0]!r} answered with more than {LONGEST_OUTPUT:,} bytes and was ended. Do: let it say less"
                )
        return Ended(process.returncode, bytes(dialogue.output), dialogue.errors.text())


@contextmanager
def _started(
    argv: Sequence[str], environment: Mapping[str, str], lifeline: Lifeline
) -> "Iterator[subprocess.Popen[bytes]]":
    """The program; its group is killed at the end, also where the program itself has ended."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, start_new_session=True
        )
    except OSError as error:
        kind = ModelGone if error.errno in _NO_PROGRAM else ModelDown
        raise kind(f"the command {argv[0]!r} cannot be started: {error.strerror}. Do: try it by hand") from error
    with process, lifeline.holding(process.pid):
        try:
            yield process
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


class _Dialogue:
    """What goes to a program and comes from it."""

    def __init__(self, process: "subprocess.Popen[bytes]", question: bytes, selector: selectors.BaseSelector) -> None:
        assert process.stdin, "a pipe"
        assert process.stdout, "a pipe"
        assert process.stderr, "a pipe"
        self.output = bytearray()
        self.errors = Tail(_LONGEST_ERRORS)
        self._process = process
        self._question = memoryview(question)
        self._selector = selector
        self._open(process.stdin, selectors.EVENT_WRITE, self._ask)
        self._open(process.stdout, selectors.EVENT_READ, self._hear)
        self._open(process.stderr, selectors.EVENT_READ, self._warned)

    def step(self) -> bool:
        """Moves what can be moved, or waits a moment; whether the program has ended, and all is read that it has written. Whoever else holds
        its output is not waited for."""
        ended = self._process.poll() is not None
        if not self._selector.get_map():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_SECONDS)
            return ended
        ready = self._selector.select(0 if ended else _LOOK_SECONDS)
        for key, _ in ready:
            pipe, move = key.data
            if not move(key.fd):
                self._selector.unregister(pipe)
                pipe.close()
        return ended and not ready

    def _open(self, pipe: IO[bytes], event: int, move: Callable[[int], bool]) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event, (pipe, move))

    def _ask(self, pipe: int) -> bool:
        """Writes of the question what fits; whether there is more to write."""
        try:
            self._question = self._question[os.write(pipe, self._question[:_CHUNK]) :]
        except BrokenPipeError:
            return False
        return len(self._question) > 0

    def _hear(self, pipe: int) -> bool:
        chunk = os.read(pipe, _CHUNK)
        self.output += chunk
        return bool(chunk)

    def _warned(self, pipe: int) -> bool:
        chunk = os.read(pipe, _CHUNK)
        self.errors.add(chunk)
        return bool(chunk)
