"""The model of kind `vllm`: a server that is kept up, and the engine's own client that talks to it.

Invariant: a server that was named by its `url` is only asked; one that was started here ends with `close`, or with the engine."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evolve.protocols import Model
from evolve.types import ModelDown, ModelError, Prompt, Reply, Usage
from evolve_vllm.server import Server, is_healthy
from evolve_vllm.settings import VllmSettings
from evolve_vllm.watch import LOOK_SECONDS, Watch

Connect = Callable[[str, str], Model]
"""Makes the client of a server from its URL and its key."""


@dataclass
class ServedModel:
    """A model that `vllm serve` answers for; implements `Model`. Starting it is left to the first `check` or call."""

    watch: Watch
    connect: Connect
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _client: tuple[str, Model] | None = field(default=None, repr=False)

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Starts the server and waits until it is well; `ModelDown` says that it was not by the deadline, and goes on to start."""
        while True:
            try:
                server = self.watch.ready()
                break
            except ModelDown as down:
                if self.clock() >= deadline:
                    raise ModelDown(
                        f"{down}. Do: give it more time (timeout_seconds), or see what it says:\n{self.watch.last_lines()}"
                    ) from None
                if cancelled.wait(LOOK_SECONDS):
                    raise ModelError(f"the start of model {self.watch.settings.model!r} was cancelled") from None
        return self._client_of(server).check(deadline, cancelled)

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """As `Model` has it."""
        client = self._client_of(self.watch.ready())
        try:
            return client.complete(prompt, samples=samples, deadline=deadline, cancelled=cancelled)
        except ModelDown:
            self.watch.doubt()
            raise

    def close(self) -> None:
        """Ends the server."""
        with self._lock:
            if self._client is not None:
                self._client[1].close()
        self.watch.close()

    def _client_of(self, server: Server) -> Model:
        """The client that has this start's port and key."""
        with self._lock:
            if self._client is None or self._client[0] != server.key:
                if self._client is not None:
                    self._client[1].close()
                self._client = (server.key, self.connect(server.url, server.key))
            return self._client[1]


@dataclass
class AdoptedModel:
    """A model whose server somebody else runs; implements `Model`."""

    settings: VllmSettings
    client: Model

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Asks the server whether it is well, and then whether it knows the model."""
        if not is_healthy(self.settings.url):
            raise ModelDown(
                f"no vLLM server is well at {self.settings.url}: its /health does not answer 200. Do: start it, or correct the setting "
                "url, or leave it out to have one started"
            )
        return self.client.check(deadline, cancelled)

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """As `Model` has it."""
        return self.client.complete(prompt, samples=samples, deadline=deadline, cancelled=cancelled)

    def close(self) -> None:
        """Closes the connections; the server goes on."""
        self.client.close()
