"""One process of `vllm serve`, from its start to its end.

It listens on 127.0.0.1 alone, answers the holder of its key alone, and does not outlive the engine. No key stands on a command line, and none
of the engine's own keys reaches the server."""

import http.client
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolve.models import ProcessReaper, kill_group
from evolve.types import ModelGone
from evolve_vllm.settings import VllmSettings

HOST = "127.0.0.1"
STOP_SECONDS = 20.0
"""Time that a server gets to end before it is killed."""
LINES = 12
"""Last lines of the log in an error."""
_TAIL = 1 << 14
_HEALTH_SECONDS = 2.0
_LOOK_SECONDS = 0.05
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Ends of names of variables that hold what is the engine's alone."""
_HUBS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Variables with which the server fetches a model."""
_DEVICES = Path("/dev")
_NVIDIA = re.compile(r"nvidia\d+")
_OTHER_GPUS = ("kfd", "dxg")
"""Device files of AMD's driver, and of the GPUs that a Windows host lends: they do not say how many there are."""


@dataclass
class Server:
    """A server that was started; `key` is its own, made for this start."""

    process: "subprocess.Popen[bytes]"
    port: int
    key: str = field(repr=False)
    log: Path
    reaper: ProcessReaper

    @classmethod
    def start(cls, settings: VllmSettings, log: Path, engine: Mapping[str, str], reaper: ProcessReaper) -> "Server":
        """Starts it and does not wait; raises `ModelGone`. It is in a session of its own, so that a Ctrl-C is the engine's alone."""
        port, key = _find_free_port(), secrets.token_urlsafe(32)
        try:
            with log.open("ab") as output:
                process = subprocess.Popen(
                    build_command(settings, port),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=build_environment(engine, key),
                    start_new_session=True,
                )
        except OSError as error:
            raise ModelGone(
                f"the server of model {settings.model!r} cannot be started: {error}. Try: check that {log} can be written"
            ) from error
        reaper.watch(process.pid)
        return cls(process, port, key, log, reaper)

    @property
    def url(self) -> str:
        """Address of its chat completions."""
        return f"http://{HOST}:{self.port}/v1"

    @property
    def has_ended(self) -> bool:
        """The process runs no more. It is not reaped here, so that the number of its group is nobody else's until `close`."""
        if self.process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def is_healthy(self) -> bool:
        """Returns whether it says with status 200 that it can answer."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_HEALTH_SECONDS)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def read_last_lines(self) -> str:
        """Returns the end of its log, without its key and without what would change a terminal."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
                text = file.read().decode("utf-8", "replace")
        except OSError as error:
            return f"(its log cannot be read: {error})"
        lines = [_CONTROL.sub("", line) for line in text.replace(self.key, "***").splitlines() if line.strip()]
        return "\n".join(lines[-LINES:])

    def close(self) -> int:
        """Asks its processes to end, kills those that are left after a while, and returns the exit code."""
        if self.process.returncode is None:
            kill_group(self.process.pid, signal.SIGTERM)
            deadline = time.monotonic() + STOP_SECONDS
            while not self.has_ended and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)
            kill_group(self.process.pid)
            self.reaper.leave(self.process.pid)
        return self.process.wait()


def build_command(settings: VllmSettings, port: int) -> tuple[str, ...]:
    """Returns the command line of a server; the user's words come last, so that they are read last."""
    parallel = ("--tensor-parallel-size", str(settings.gpus)) if settings.gpus > 1 else ()
    own = ("--host", HOST, "--port", str(port), "--served-model-name", settings.model)
    return (_program(settings), "serve", settings.model, *own, *parallel, *settings.args)


def _program(settings: VllmSettings) -> str:
    return str(Path(settings.command).expanduser())


def build_environment(engine: Mapping[str, str], key: str) -> dict[str, str]:
    """Returns the engine's environment without its keys, and with the one that the server asks of its callers."""
    kept = {name: value for name, value in engine.items() if name in _HUBS or not name.endswith(_SECRETS)}
    return {**kept, "VLLM_API_KEY": key}


def check_machine(settings: VllmSettings, engine: Mapping[str, str], devices: Path = _DEVICES) -> None:
    """Raises `ModelGone` where the program or the GPUs are missing."""
    if shutil.which(_program(settings), path=engine.get("PATH")) is None:
        raise ModelGone(
            f"model {settings.model!r} needs vLLM, and there is no program {settings.command!r}. Try: pip install vllm, or give the "
            "path of the program as the setting command, or use a server that runs already, --model NAME@URL"
        )
    visible = _count_gpus(engine, devices)
    if visible is not None and visible < settings.gpus:
        raise ModelGone(
            f"model {settings.model!r} needs {settings.gpus} GPUs, and this machine shows {visible}. Try: set gpus to what there is, "
            "or to 0 for a vllm that is built for CPUs, or use a server that runs already, --model NAME@URL"
        )


def _count_gpus(engine: Mapping[str, str], devices: Path) -> int | None:
    """Returns how many GPUs there are; None where that cannot be told. A variable that names none hides all."""
    if engine.get("CUDA_VISIBLE_DEVICES") == "":
        return 0
    if any((devices / name).exists() for name in _OTHER_GPUS):
        return None
    return sum(bool(_NVIDIA.fullmatch(path.name)) for path in devices.glob("nvidia*"))


def _find_free_port() -> int:
    # Somebody may take it before the server does: then that ends, and is started again on another one.
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])


def new_log(model: str) -> Path:
    """Returns a new file for what the servers of a model print, readable by this user alone; raises `ModelGone`."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", model)[-60:].strip("-")
    try:
        descriptor, made = tempfile.mkstemp(prefix=f"evolve-vllm-{name}-", suffix=".log")
    except OSError as error:
        raise ModelGone(
            f"the log of model {model!r} cannot be written: {error}. Try: set $TMPDIR to a folder that can be"
        ) from error
    os.close(descriptor)
    return Path(made)
