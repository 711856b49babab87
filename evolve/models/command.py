"""External program as a model: it gets the prompt on stdin and answers on stdout.

A program and all that it has started end with their call, however that ends, and with the engine, even where that is killed. A program sees
the variables that its settings name, so no key that it was not given."""

import errno
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evolve.models.process_reaper import ProcessReaper, kill_group
from evolve.models.transcript import call_name, format_transcript, to_reply
from evolve.types import ModelDown, ModelError, ModelGone, Prompt, Reply, Usage

PASSED = ("PATH", "HOME", "LANG")
"""Variables that every program sees."""
LONGEST_OUTPUT = 1 << 22
"""Bytes."""
_LOOK_SECONDS = 0.05
"""Seconds between two looks at the clock, at the output's size, and at whether the call was cancelled."""
_ERROR_BYTES = 4000
_ERROR_LINES = 10
"""End of stderr that an error quotes."""
_SECRET = 8
"""Characters of a variable's value that is worth hiding."""
_NO_PROGRAM = (errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.ENOTDIR)


def _split_words(words: object) -> object:
    return shlex.split(words) if isinstance(words, str) else words


class CommandModelSettings(BaseModel):
    """Settings of the kind `command`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: Annotated[tuple[str, ...], BeforeValidator(_split_words)] = Field(
        min_length=1,
        description="the program and its arguments: a list, or one text that is split as a shell does",
        examples=[["cat"]],
    )
    format: Literal["text", "json"] = Field(default="text", description="how the prompt stands on its stdin")
    environment: tuple[str, ...] = Field(
        default=(), description="variables of the engine that it sees, beside PATH, HOME and LANG"
    )


@dataclass(frozen=True, slots=True)
class _Ended:
    """A program that has ended: its exit code (below 0: a signal), its output, and the end of its stderr."""

    code: int
    output: bytes
    errors: str


class CommandModel:
    """Implements `Model`. Each call is a process of its own, and answers one sample."""

    def __init__(self, settings: CommandModelSettings) -> None:
        self._settings = settings
        self._reaper = ProcessReaper()

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Checks that the program is there, and its variables, too; does not call it. Raises `ModelGone`."""
        environment = self._environment()
        missing = [name for name in self._settings.environment if name not in environment]
        if missing:
            raise ModelGone(
                f"the command {self._name!r} is given the variable {missing[0]}, which is not set. Try: set it, or leave it out of `environment`"
            )
        if shutil.which(self._settings.argv[0], path=environment.get("PATH")) is None:
            raise ModelGone(
                f"there is no program {self._settings.argv[0]!r} that can be run. Try: install it, or give its whole path"
            )
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Answers the first sample."""
        began = time.monotonic()
        environment = self._environment()
        question = self._question(prompt, samples[0]).encode("utf-8", "surrogatepass")
        try:
            ended = self._run(question, environment, deadline, cancelled)
            return [to_reply(prompt, self._text(ended, environment), time.monotonic() - began)]
        except ModelError as error:
            error.seconds = time.monotonic() - began
            if not isinstance(error, ModelDown | ModelGone):  # it ran, and may have asked somebody who charges
                error.usage = to_reply(prompt, "", 0.0).usage
            raise

    def close(self) -> None:
        """Ends the process that watches over programs."""
        self._reaper.close()

    def _run(
        self, question: bytes, environment: Mapping[str, str], deadline: float, cancelled: threading.Event
    ) -> _Ended:
        """Runs the program in a session of its own. Raises `ModelError` when it takes too long, writes too much, or is cancelled. Files
        stand in for pipes, so that it is not waited for whoever else has inherited its output."""
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            stdin.write(question)
            stdin.seek(0)
            with self._spawn(environment, stdin, stdout, stderr) as process:
                while not _has_ended(process):
                    self._check_time(deadline, cancelled)
                    self._check_size(stdout, stderr)
            self._check_size(stdout)
            stdout.seek(0)
            stderr.seek(max(0, _size_of(stderr) - _ERROR_BYTES))
            return _Ended(process.returncode, stdout.read(), stderr.read().decode("utf-8", "replace"))

    @contextmanager
    def _spawn(
        self, environment: Mapping[str, str], stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes]
    ) -> "Iterator[subprocess.Popen[bytes]]":
        """Starts the program; kills its group at the end, also where the program itself has ended."""
        argv = self._settings.argv
        try:
            process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, start_new_session=True
            )
        except OSError as error:
            kind = ModelGone if error.errno in _NO_PROGRAM else ModelDown
            raise kind(f"the command {argv[0]!r} cannot be started: {error.strerror}. Try: try it by hand") from error
        with process, self._reaper.watching(process.pid):
            try:
                yield process
            finally:
                kill_group(process.pid)

    def _check_time(self, deadline: float, cancelled: threading.Event) -> None:
        if cancelled.is_set():
            raise ModelError("the call was cancelled, and its program ended")
        if time.monotonic() >= deadline:
            command = self._settings.argv[0]
            raise ModelError(
                f"the command {command!r} took too long and was ended. Try: raise the model's `timeout_seconds`"
            )

    def _check_size(self, *files: IO[bytes]) -> None:
        if max(map(_size_of, files)) > LONGEST_OUTPUT:
            command = self._settings.argv[0]
            raise ModelError(
                f"the command {command!r} answered with more than {LONGEST_OUTPUT:,} bytes and was ended. Try: let it say less"
            )

    @property
    def _name(self) -> str:
        return Path(self._settings.argv[0]).name

    # The environment of the engine has keys of other models in it.
    def _environment(self) -> dict[str, str]:
        return {name: os.environ[name] for name in (*PASSED, *self._settings.environment) if name in os.environ}

    def _question(self, prompt: Prompt, sample: int) -> str:
        name = call_name(prompt.request, sample)
        if self._settings.format == "text":
            return format_transcript(prompt, name)
        fields = {
            "name": name,
            "messages": [{"role": message.role, "content": message.text} for message in prompt.messages],
            "temperature": prompt.temperature,
            "effort": prompt.effort,
            "max_tokens": prompt.max_tokens,
        }
        return json.dumps(fields, ensure_ascii=False) + "\n"

    def _text(self, ended: _Ended, environment: Mapping[str, str]) -> str:
        """Returns its answer; raises `ModelError` with the end of its stderr."""
        quoted = self._quote_errors(ended.errors, environment)
        if ended.code != 0:
            how = f"was ended by signal {-ended.code}" if ended.code < 0 else f"ended with exit code {ended.code}"
            raise ModelError(f"the command {self._name!r} {how}. Try: try it by hand{quoted}")
        try:
            text = ended.output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(f"the command {self._name!r} has not answered in UTF-8: {error}. Try: mend it") from error
        if not text.strip():
            raise ModelError(
                f"the command {self._name!r} has answered nothing. Try: let it print the answer on stdout{quoted}"
            )
        return text

    def _quote_errors(self, errors: str, environment: Mapping[str, str]) -> str:
        """Formats the last lines of stderr for the end of an error, without the values of its variables."""
        for name in self._settings.environment:
            value = environment.get(name, "")
            if len(value) >= _SECRET:
                errors = errors.replace(value, "***")
        lines = errors.strip().splitlines()[-_ERROR_LINES:]
        return "".join(f"\n{line}" for line in lines)


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(_LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _size_of(file: IO[bytes]) -> int:
    return os.fstat(file.fileno()).st_size
