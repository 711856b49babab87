"""The model of kind `vllm`: a server that is kept up, and the engine's own client that talks to it.

The server is started when it is first needed, asked whether it is well, and started again where it has ended. No thread is started: each call
looks once and says how things are. The server ends with `close`, or with the engine."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evolve.models import ProcessReaper
from evolve.protocols import Model
from evolve.types import ModelDown, ModelError, ModelGone, Prompt, Reply, Usage
from evolve_vllm.server import Server, check_machine, new_log
from evolve_vllm.settings import VllmSettings

LOOK_SECONDS = 0.25
"""Least time between two questions whether a server is well."""
RESTARTS = 3
"""Starts within an hour of a server that was well before."""
_HOUR = 3600.0
_OCCUPIED = "address already in use"


@dataclass
class ServedModel:
    """Model that `vllm serve` answers for; implements `Model`. `connect` makes the client of a server from its URL and its key. Any thread."""

    settings: VllmSettings
    engine: Mapping[str, str] = field(repr=False)
    connect: Callable[[str, str], Model]
    clock: Callable[[], float] = time.monotonic
    reaper: ProcessReaper = field(default_factory=ProcessReaper, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _server: Server | None = None
    _client: tuple[str, Model] | None = field(default=None, repr=False)
    _log: Path | None = None
    _unwell_since: float | None = 0.0
    _was_well: bool = False
    _looked: float = float("-inf")
    _restarts: list[float] = field(default_factory=list)
    _gone: str = ""

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Starts the server and waits until it is well; `ModelDown` says that it was not by the deadline, and goes on to start."""
        while True:
            try:
                client = self._ready()
                break
            except ModelDown as down:
                if self.clock() >= deadline:
                    lines = self._server.read_last_lines() if self._server else ""
                    raise ModelDown(
                        f"{down}. Try: give it more time (timeout_seconds), or see what it says:\n{lines}"
                    ) from None
                if cancelled.wait(LOOK_SECONDS):
                    raise ModelError(f"the start of model {self.settings.model!r} was cancelled") from None
        return client.check(deadline, cancelled)

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """See `Model.complete`. A call that fails has the server's health asked anew."""
        client = self._ready()
        try:
            return client.complete(prompt, samples=samples, deadline=deadline, cancelled=cancelled)
        except ModelDown:
            with self._lock:
                if self._unwell_since is None:
                    self._unwell_since = self.clock()
            raise

    def close(self) -> None:
        """Ends the server, and waits for that."""
        with self._lock:
            self._gone = self._gone or f"the server of model {self.settings.model!r} was closed"
            if self._client is not None:
                self._client[1].close()
            if self._server is not None:
                self._server.close()
            self.reaper.close()

    def _ready(self) -> Model:
        """Returns the client of the server, which is well. Raises `ModelDown` while it starts, and `ModelGone` where it will not come up any more."""
        with self._lock:
            if self._gone:
                raise ModelGone(self._gone)
            server = self._server or self._start()
            # Threads that wait for a server would be many; each call looks once, and the engine asks again.
            if server.has_ended:
                self._start_again(server, f"ended with exit code {server.close()}")
            if self._unwell_since is not None:
                self._look(server, self._unwell_since)
            return self._client_of(server)

    def _start(self) -> Server:
        check_machine(self.settings, self.engine)
        self._log = self._log or new_log(self.settings.model)
        self._unwell_since, self._looked = self.clock(), float("-inf")
        self._server = Server.start(self.settings, self._log, self.engine, self.reaper)
        return self._server

    def _look(self, server: Server, since: float) -> None:
        """Returns where the server is well; raises where it is not yet."""
        now = self.clock()
        if now - self._looked >= LOOK_SECONDS:
            self._looked = now
            if server.is_healthy():
                self._unwell_since, self._was_well = None, True
                return
        if now - since > self.settings.start_seconds:
            server.close()
            self._start_again(server, f"did not answer in {self.settings.start_seconds:g} s")
        raise ModelDown(
            f"vllm serve {self.settings.model} does not answer yet ({now - since:.0f} s); its log is {server.log}",
            retry_after=LOOK_SECONDS,
        )

    def _start_again(self, server: Server, how: str) -> None:
        """Starts another server after one that has ended, unless that would be in vain; raises in any case."""
        lines, now = server.read_last_lines(), self.clock()
        what = f"vllm serve {self.settings.model} {how}"
        self._restarts = [when for when in self._restarts if now - when < _HOUR]
        # A server that was never well has something wrong that stays wrong, but for a port that somebody else took.
        may_come_up = self._was_well or _OCCUPIED in lines.lower()
        if not may_come_up or len(self._restarts) >= RESTARTS:
            tried = f" and was started again {len(self._restarts)} times" if self._restarts else ""
            self._gone = f"{what}{tried}. Try: read the end of {server.log}:\n{lines}"
            raise ModelGone(self._gone)
        self._restarts.append(now)
        self._start()
        raise ModelDown(
            f"{what} and is started again ({len(self._restarts)} of {RESTARTS}); its log is {server.log}:\n{lines}",
            retry_after=LOOK_SECONDS,
        )

    def _client_of(self, server: Server) -> Model:
        """Returns the client that has this start's port and key."""
        if self._client is None or self._client[0] != server.key:
            if self._client is not None:
                self._client[1].close()
            self._client = (server.key, self.connect(server.url, server.key))
        return self._client[1]
