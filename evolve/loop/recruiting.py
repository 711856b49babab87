"""The models that a change of settings brings into a run: made and called once on a thread of their own, before anything changes.

Invariant: a change whose models do not answer changes nothing; what was opened for it is closed."""

import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from evolve.config import ModelSection, ModelsSection, Settings
from evolve.cores import on_all_cores
from evolve.loop.members import Member, recruit
from evolve.plugins import Plugins
from evolve.types import EvolveError

_LOOK = 0.05
"""Seconds between two looks of a command that waits."""


@dataclass(slots=True)
class _Call:
    """The models of one request while they are called, and what came of it. The thread sets `done` last."""

    wanted: Sequence[ModelSection]
    resources: ExitStack
    members: list[Member] = field(default_factory=list)
    error: EvolveError | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Recruits:
    """The models that requests want; `waits`: who asks waits for them. Main thread, but for what it starts."""

    def __init__(self, plugins: Plugins, *, waits: bool) -> None:
        self._plugins = plugins
        self._waits = waits
        self._calls: dict[str, _Call] = {}
        self._cancelled = threading.Event()
        self._kept = ExitStack()

    def ready(self, request: str, old: ModelsSection, new: Settings) -> Sequence[Member] | None:
        """The members that are new, or are made anew, once each has answered; None as long as they are called. Raises `EvolveError` where
        one cannot be called."""
        wanted = missing(old, new.models)
        if not wanted:
            return ()
        call = self._calls.get(request) or self._begun(request, wanted, new)
        if call.done.is_set() and not _same(call.wanted, wanted):  # another request was done meanwhile
            call.resources.close()
            call = self._begun(request, wanted, new)
        while self._waits and not call.done.wait(_LOOK):
            pass
        if not call.done.is_set():
            return None
        del self._calls[request]
        if call.error is not None:
            raise call.error
        self._kept.push(call.resources.pop_all())
        return tuple(call.members)

    def close(self) -> None:
        """Ends the models that it has brought, and those that are still called."""
        self._cancelled.set()
        for call in self._calls.values():
            call.done.wait()
            call.resources.close()
        self._kept.close()

    def _begun(self, request: str, wanted: Sequence[ModelSection], settings: Settings) -> _Call:
        call = self._calls[request] = _Call(wanted, ExitStack())
        thread = threading.Thread(
            target=self._open, args=(call, wanted, settings), name="evolve-recruiting", daemon=True
        )
        with on_all_cores():
            thread.start()
        return call

    def _open(self, call: _Call, wanted: Sequence[ModelSection], settings: Settings) -> None:
        """Its own thread."""
        try:
            for section in wanted:
                deadline = time.monotonic() + section.timeout_seconds
                found = recruit(section, settings, self._plugins, call.resources, deadline, self._cancelled)
                call.members.append(found)
        except EvolveError as error:
            call.error = error
            call.resources.close()
        finally:
            call.done.set()


def missing(old: ModelsSection, new: ModelsSection) -> tuple[ModelSection, ...]:
    """Those of the new members that must be made: no old one has the name, the kind and the settings."""
    known = {member.name: member for member in old.members}
    return tuple(one for one in new.members if one.name not in known or not _same([known[one.name]], [one]))


def _same(first: Sequence[ModelSection], second: Sequence[ModelSection]) -> bool:
    """Made alike, whatever they cost and weigh."""
    one, other = ([(found.name, found.kind, found.settings) for found in sections] for sections in (first, second))
    return one == other
