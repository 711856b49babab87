"""The campaigns that pages are made of: opened when first asked for, kept, and brought up to date.

Invariant: one thread at a time has a campaign; a log is only read."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evolve.campaign import Campaign, existing_path
from evolve.plugins import Plugins

KEPT = 4
"""So many campaigns stay open; one of 100,000 records takes a few hundred MB."""


@dataclass(slots=True)
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    campaign: Campaign | None = None


class Shelf:
    """The open campaigns of a workspace; `named` are logs that lie elsewhere."""

    def __init__(self, home: Path, plugins: Plugins, named: Mapping[str, Path] | None = None) -> None:
        self.home = home
        self.named = dict(named or {})
        self._plugins = plugins
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def campaign(self, name: str) -> Iterator[Campaign]:
        """A campaign as its log is now; raises `ConfigError` for one that there is not, `StoreError` for a log that cannot be read."""
        place = self._place(name)
        with place.lock:
            if place.campaign is None or place.campaign.log.count() != place.campaign.events:
                self._open(name, place)
            assert place.campaign is not None, "it was just opened"
            yield place.campaign
        self._tidy()

    def path(self, name: str) -> Path:
        """Where a campaign's log lies; raises `ConfigError`."""
        return self.named[name] if name in self.named else existing_path(self.home, name)

    def close(self) -> None:
        """Closes all logs."""
        with self._lock:
            for place in self._places.values():
                with place.lock:
                    _close(place)
            self._places.clear()

    def _place(self, name: str) -> _Place:
        path = self.path(name)
        with self._lock:
            place = self._places.setdefault(str(path), _Place())
            self._places.move_to_end(str(path))
            return place

    def _open(self, name: str, place: _Place) -> None:
        _close(place)
        place.campaign = Campaign.open(str(self.path(name)), self._plugins, self.home)

    def _tidy(self) -> None:
        """Closes those that were asked for longest ago, but for what is being read."""
        with self._lock:
            for path in list(self._places)[: max(0, len(self._places) - KEPT)]:
                place = self._places[path]
                if place.lock.acquire(blocking=False):
                    try:
                        _close(place)
                        del self._places[path]
                    finally:
                        place.lock.release()


def _close(place: _Place) -> None:
    if place.campaign is not None:
        place.campaign.close()
        place.campaign = None
