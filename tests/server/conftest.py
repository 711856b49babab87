"""A real server of a real, if tiny, language model on the CPU, in an environment of its own that `make test-server` sets up."""

import http.client
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from evolve import plugins
from evolve.protocols import Model

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / ".venv-server" / "bin"
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Server:
    """A server that runs: `model` is the folder of its only model, which is its name too. `seconds` is what its start took."""

    url: str
    model: str
    pid: int
    seconds: float

    @property
    def megabytes(self) -> float:
        """What it has in memory; 0 where the system does not tell."""
        status = Path(f"/proc/{self.pid}/status")
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status.read_text() if status.exists() else "", re.MULTILINE)
        return int(found[1]) / 1000 if found else 0.0

    def client(self, **settings: object) -> Model:
        """The engine's client for it."""
        return plugins.load([]).model("openai", {"model": self.model, "base_url": self.url, **settings})


def _offline(folder: Path) -> dict[str, str]:
    """An environment in which nothing is fetched; the folder of the hub must be there."""
    (folder / "hub").mkdir(parents=True, exist_ok=True)
    return {
        **os.environ,
        "HF_HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a model that has learned nothing."""
    if not (PROGRAMS / "transformers").exists():
        pytest.skip("there is no environment of the server: `make test-server` makes it")
    folder = tmp_path_factory.mktemp("model") / "tiny"
    program = [PROGRAMS / "python", Path(__file__).with_name("make_tiny_model.py"), folder]
    subprocess.run(program, check=True, env=_offline(tmp_path_factory.mktemp("hub")), timeout=PATIENCE_SECONDS)
    return str(folder)


@pytest.fixture(scope="session")
def server(tiny_model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`transformers serve` on 127.0.0.1, until the last test has ended."""
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    words = ["serve", tiny_model, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAMS / "transformers", *words], env=_offline(folder / "home"), stdout=log, stderr=log
        )
    try:
        while not _is_well(port):
            assert process.poll() is None, f"the server ended: {(folder / 'log').read_text()[-2000:]}"
            assert time.monotonic() - began < PATIENCE_SECONDS, "the server does not come up"
            time.sleep(0.2)
        yield Server(f"http://127.0.0.1:{port}/v1", tiny_model, process.pid, time.monotonic() - began)
    finally:
        process.kill()  # asked to end, it first ends every answer that nobody waits for any more
        process.wait()


def _is_well(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()
