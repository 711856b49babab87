"""Keeps one server up: starts it when it is first needed, asks whether it is well, and starts it again where it has ended.

Invariant: nobody waits here for a server, and no thread is started: each call looks once and says how things are."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolve.types import ModelDown, ModelGone
from evolve_vllm.launch import require
from evolve_vllm.server import Server, new_log
from evolve_vllm.settings import VllmSettings

LOOK_SECONDS = 0.25
"""The least time between two questions whether a server is well."""
_HOUR = 3600.0
_OCCUPIED = "address already in use"


@dataclass
class Watch:
    """The server of one model. Thread-safe."""

    settings: VllmSettings
    engine: Mapping[str, str] = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _server: Server | None = None
    _log: Path | None = None
    _unwell_since: float | None = 0.0
    _was_well: bool = False
    _is_ending: bool = False
    _looked: float = float("-inf")
    _restarts: list[float] = field(default_factory=list)
    _gone: str = ""

    def ready(self) -> Server:
        """The server, which is well. Raises `ModelDown` while it starts, and `ModelGone` where it will not come up any more."""
        with self._lock:
            if self._gone:
                raise ModelGone(self._gone)
            server = self._server or self._start()
            code = server.exit_code
            if code is not None:
                return self._again(server, code)
            if self._unwell_since is not None:
                self._look(server, self._unwell_since)
            return server

    def doubt(self) -> None:
        """A call did not reach the server: whether it is well must be asked anew."""
        with self._lock:
            if self._unwell_since is None:
                self._unwell_since = self.clock()

    def last_lines(self) -> str:
        """The end of the server's log."""
        return "" if self._server is None else self._server.last_lines()

    def close(self) -> None:
        """Ends the server, and waits for that."""
        with self._lock:
            self._gone = self._gone or f"the server of model {self.settings.model!r} was closed"
            if self._server is not None:
                self._server.close()

    def _start(self) -> Server:
        require(self.settings, self.engine)
        self._log = self._log or new_log(self.settings)
        self._unwell_since, self._is_ending, self._looked = self.clock(), False, float("-inf")
        self._server = Server.start(self.settings, self._log, self.engine)
        return self._server

    def _look(self, server: Server, since: float) -> None:
        """Returns where the server is well."""
        now = self.clock()
        if now - self._looked >= LOOK_SECONDS and not self._is_ending:
            self._looked = now
            if server.is_healthy():
                self._unwell_since, self._was_well = None, True
                return
        if now - since > self.settings.start_seconds and not self._is_ending:
            self._is_ending = True
            server.end()
        doing = "ends, for it did not answer" if self._is_ending else "does not answer yet"
        raise ModelDown(
            f"vllm serve {self.settings.model} {doing} ({now - since:.0f} s); its log is {server.log}",
            retry_after=LOOK_SECONDS,
        )

    def _again(self, server: Server, code: int) -> Server:
        """What follows the end of a server: another one, or the end of all; raises."""
        server.close()
        lines, now = server.last_lines(), self.clock()
        how = (
            f"did not answer in {self.settings.start_seconds:g} s"
            if self._is_ending
            else f"ended with exit code {code}"
        )
        what = f"vllm serve {self.settings.model} {how}"
        self._restarts = [when for when in self._restarts if now - when < _HOUR]
        may_come_up = self._was_well or _OCCUPIED in lines.lower()
        if not may_come_up or len(self._restarts) >= self.settings.restarts:
            tried = f" and was started again {len(self._restarts)} times" if self._restarts else ""
            self._gone = f"{what}{tried}. Do: read the end of {server.log}:\n{lines}"
            raise ModelGone(self._gone)
        self._restarts.append(now)
        self._start()
        raise ModelDown(
            f"{what} and is started again ({len(self._restarts)} of {self.settings.restarts}); its log is {server.log}:\n{lines}",
            retry_after=LOOK_SECONDS,
        )
