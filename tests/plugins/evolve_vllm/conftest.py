"""What the tests of the plugin `evolve_vllm` share: a program that plays `vllm`, and a client that is as simple as can be."""

import json
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evolve.types import Message, ModelDown, ModelGone, Prompt, Reply, Section, Usage
from evolve_vllm import server
from evolve_vllm.model import ServedModel
from evolve_vllm.settings import VllmSettings


@dataclass
class PlainClient:
    """One request, one answer; implements `Model`."""

    url: str
    key: str
    closed: bool = False

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """One call."""
        return self.complete(asking("ping"), samples=[0], deadline=deadline, cancelled=cancelled)[0].usage

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """The server's answer."""
        body = json.dumps({"messages": [{"role": "user", "content": prompt.messages[-1].text}]}).encode()
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}/chat/completions", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return [Reply(json.load(response)["choices"][0]["message"]["content"])]
        except urllib.error.HTTPError as error:
            with error:
                raise (ModelGone if error.code == 401 else ModelDown)(f"status {error.code}") from None
        except OSError as error:
            raise ModelDown(str(error)) from error

    def close(self) -> None:
        """Notes it."""
        self.closed = True


def asking(text: str) -> Prompt:
    """A prompt of one message."""
    return Prompt((Message("user", (Section("task", text),)),))


@dataclass
class Stage:
    """A model behind the stand-in, and what the stand-in wrote down."""

    model: ServedModel
    notes: Path
    clients: list[PlainClient]

    def check(self, seconds: float = 30.0) -> Usage:
        """As the engine checks a model before it is used."""
        return self.model.check(time.monotonic() + seconds, threading.Event())

    def ask(self, text: str) -> str:
        """The answer to a call."""
        cancelled = threading.Event()
        replies = self.model.complete(asking(text), samples=[0], deadline=time.monotonic() + 10, cancelled=cancelled)
        return replies[0].text

    def ask_again(self, text: str) -> str:
        """As the engine asks a model that is down: again and again."""
        until = time.monotonic() + 20
        while True:
            try:
                return self.ask(text)
            except ModelDown:
                assert time.monotonic() < until, "the server did not come up again"
                time.sleep(0.05)

    @property
    def log(self) -> Path:
        """The server's log."""
        (log,) = self.notes.parent.glob("evolve-vllm-org-tiny-*.log")
        return log

    def starts(self) -> list[dict[str, Any]]:
        """What each start was given."""
        return [json.loads(line) for line in self.notes.read_text().splitlines()] if self.notes.exists() else []


@pytest.fixture
def vllm(tmp_path: Path) -> str:
    """The path of a program that plays `vllm`."""
    program = tmp_path / "vllm"
    source = Path(__file__).with_name("stand_in.py").read_text()
    program.write_text(f"#!{sys.executable} -I\n{source}")
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def stage(tmp_path: Path, vllm: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stage]]:
    """Makes models behind the stand-in, which behaves as `behaviour` says; all are closed in the end."""
    made: list[Stage] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(server, "STOP_SECONDS", 2.0)

    def make(*behaviour: str, engine: Mapping[str, str] | None = None, **settings: Any) -> Stage:
        notes, clients = tmp_path / f"notes-{len(made)}", list[PlainClient]()

        def connect(url: str, key: str) -> PlainClient:
            clients.append(PlainClient(url, key))
            return clients[-1]

        values = {
            "model": "org/tiny",
            "command": vllm,
            "gpus": 0,
        }
        chosen = VllmSettings(**{**values, "args": ("--notes", str(notes), *behaviour), **settings})
        environment = {"PATH": "/usr/bin:/bin", **(engine or {})}
        made.append(Stage(ServedModel(chosen, environment, connect), notes, clients))
        return made[-1]

    yield make
    for item in made:
        item.model.close()
