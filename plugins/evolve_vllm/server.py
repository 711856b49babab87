"""One process of `vllm serve`, from its start to its end, behind a guardian.

Invariant: it listens on 127.0.0.1 alone, answers the holder of its key alone, and does not outlive the engine."""

import http.client
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from evolve.types import ModelGone
from evolve_vllm import guardian
from evolve_vllm.launch import HOST, surroundings, words
from evolve_vllm.settings import VllmSettings

LINES = 12
"""So many of the log's last lines stand in an error."""
_TAIL = 1 << 14
_PATIENCE = 2.0
"""Seconds that a health check waits for an answer."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass
class Server:
    """A server that was started; `key` is its own, made for this start."""

    process: "subprocess.Popen[bytes]"
    port: int
    key: str = field(repr=False)
    log: Path
    stop_seconds: float

    @classmethod
    def start(cls, settings: VllmSettings, log: Path, engine: Mapping[str, str]) -> "Server":
        """Starts it and does not wait; raises `ModelGone` where its log cannot be written or its guardian not be started. It is in a session
        of its own, so that a Ctrl-C is the engine's alone."""
        port, key = free_port(), secrets.token_urlsafe(32)
        command = [sys.executable, "-I", guardian.__file__, str(settings.stop_seconds), *words(settings, port)]
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=surroundings(settings, engine, key),
                    start_new_session=True,
                )
        except OSError as error:
            raise ModelGone(
                f"the server of model {settings.model!r} cannot be started: {error}. Do: check that {log} can be written"
            ) from error
        return cls(process, port, key, log, settings.stop_seconds)

    @property
    def url(self) -> str:
        """Where it answers chat completions."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.poll()

    def is_healthy(self) -> bool:
        """Whether it says that it can answer."""
        return is_healthy(self.url)

    def last_lines(self) -> str:
        """The end of its log, without its key and without what would change a terminal."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
                text = file.read().decode("utf-8", "replace")
        except OSError as error:
            return f"(its log cannot be read: {error})"
        lines = [_CONTROL.sub("", line) for line in text.replace(self.key, "***").splitlines() if line.strip()]
        return "\n".join(lines[-LINES:])

    def end(self) -> None:
        """Tells its guardian to end it, and does not wait."""
        assert self.process.stdin is not None, "the guardian was started with a pipe"
        self.process.stdin.close()

    def close(self) -> None:
        """Ends it, and waits until it has ended, with all that it started."""
        self.end()
        try:
            self.process.wait(self.stop_seconds + _PATIENCE)
        except subprocess.TimeoutExpired:  # the guardian is stopped or starved; its server dies with it
            self.process.kill()
            self.process.wait()


def is_healthy(url: str) -> bool:
    """Whether the server behind a URL such as http://127.0.0.1:8000/v1 says with status 200 that it is well."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or HOST, parts.port, timeout=_PATIENCE)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A port that nobody listens on now. Somebody may before the server does: then it ends, and is started again on another one."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])


def new_log(settings: VllmSettings) -> Path:
    """The file that takes what the servers of one model print, readable by this user alone; raises `ModelGone`."""
    try:
        if settings.log:
            path = Path(settings.log).expanduser().absolute()
            path.touch(mode=0o600)
            return path
        name = re.sub(r"[^A-Za-z0-9.]+", "-", settings.model)[-60:].strip("-")
        descriptor, made = tempfile.mkstemp(prefix=f"evolve-vllm-{name}-", suffix=".log")
        os.close(descriptor)
        return Path(made)
    except OSError as error:
        raise ModelGone(
            f"the log of model {settings.model!r} cannot be written: {error}. Do: give a file as the setting log"
        ) from error
