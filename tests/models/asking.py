"""What the tests of models share: a prompt, a clock that nobody waits for, and one way to ask."""

import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from evolve.models.endpoint import OpenAISettings
from evolve.models.openai import OpenAIModel
from evolve.models.retries import ModelClock
from evolve.types import Message, Prompt, Reply, Section
from tests.models.fault_server import MODEL, FaultServer, Step

PROMPT = Prompt((Message("user", (Section("task", "Say hello."),)),), max_tokens=100)
PROMPT_ESTIMATE = 3


class FakeTime:
    """Pauses pass at once, and are kept; real time passes besides. Chance is always the same."""

    def __init__(self, chance: float = 1.0) -> None:
        self.pauses: list[float] = []
        self._skipped = 0.0
        self._lock = threading.Lock()
        self.clock = ModelClock(now=self.now, pause=self.pause, chance=lambda: chance)

    def now(self) -> float:
        return time.monotonic() + self._skipped

    def pause(self, seconds: float, cancelled: threading.Event) -> bool:
        with self._lock:
            self.pauses.append(round(seconds, 2))
            self._skipped += seconds
        return cancelled.is_set()


@contextmanager
def asked_of(
    server: FaultServer, times: FakeTime | None = None, environment: Mapping[str, str] | None = None, **settings: Any
) -> Generator[OpenAIModel]:
    """A model behind the server, closed at the end."""
    clock = (times or FakeTime()).clock
    model = OpenAIModel(
        OpenAISettings(**{"model": MODEL, "base_url": server.url, **settings}), environment or {}, clock
    )
    try:
        yield model
    finally:
        model.close()


def ask(
    model: OpenAIModel, samples: int = 1, seconds: float = 30.0, cancelled: threading.Event | None = None
) -> Sequence[Reply]:
    """One call."""
    return model.complete(
        PROMPT, samples=range(samples), deadline=time.monotonic() + seconds, cancelled=cancelled or threading.Event()
    )


def replies(*steps: Step, samples: int = 1, seconds: float = 30.0, **settings: Any) -> tuple[Sequence[Reply], int]:
    """What a call comes to when a server does this, and how many requests it took."""
    with FaultServer(steps) as server, asked_of(server, **settings) as model:
        return ask(model, samples, seconds), server.count
