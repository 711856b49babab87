"""The campaigns that pages are made of: opened when first asked for, kept, and brought up to date.

Invariant: one thread at a time has a campaign; a log is only read; and nobody waits long for a large one to be opened."""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evolve.campaign import Campaign
from evolve.campaign.workspace import campaigns, log_path
from evolve.log import writer
from evolve.plugins import Plugins
from evolve.types import ConfigError, EvolveError
from evolve.types.suggest import did_you_mean

KEPT = 6
"""So many campaigns stay open; one of 100,000 records takes a few hundred MB."""
PATIENCE_SECONDS = 1.0
"""A page waits so long for a log to be opened; then it says that it is being opened."""


class StillOpening(Exception):
    """A log is being opened since `seconds`; it has `megabytes`."""

    def __init__(self, name: str, seconds: float, megabytes: float) -> None:
        super().__init__(name)
        self.name, self.seconds, self.megabytes = name, seconds, megabytes


class _Opening:
    """A campaign that is being opened in a thread of its own, which nobody waits for when the server ends."""

    def __init__(self, path: Path, plugins: Plugins, home: Path) -> None:
        self.campaign: Campaign | None = None
        self.error: EvolveError | None = None
        self.done = threading.Event()
        self._began = time.monotonic()
        self._place = path, plugins, home
        threading.Thread(target=self._open, name=f"opens {path.name}", daemon=True).start()

    @property
    def seconds(self) -> float:
        """For how long."""
        return time.monotonic() - self._began

    def _open(self) -> None:
        path, plugins, home = self._place
        try:
            self.campaign = Campaign.open(str(path), plugins, home)
        except EvolveError as error:
            self.error = error
        finally:
            self.done.set()


@dataclass(slots=True)
class _Place:
    lock: threading.Lock = field(default_factory=threading.Lock)
    file: tuple[int, int] | None = None
    """Device and number of the file that is open."""
    opening: _Opening | None = None
    campaign: Campaign | None = None


class Shelf:
    """The open campaigns of a workspace; `named` are logs that lie elsewhere."""

    def __init__(self, home: Path, plugins: Plugins, named: Mapping[str, Path] | None = None) -> None:
        self.home = home
        self.named = dict(named or {})
        self.plugins = plugins
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def campaign(self, name: str) -> Iterator[Campaign]:
        """A campaign as its log is now. Raises `ConfigError` for one that there is not, `StoreError` for a log that cannot be read,
        `StillOpening` where it takes a while."""
        path = self.path(name)
        place = self._place(path)
        with place.lock:
            campaign = self._opened(name, path, place)
            campaign.follow()
            yield campaign
        self._tidy()

    def path(self, name: str) -> Path:
        """Where a campaign's log lies; raises `ConfigError`. A name in an address is never a path."""
        if name in self.named:
            return self.named[name]
        path = log_path(self.home, name)
        if not path.is_file():
            near = did_you_mean(name, [log.stem for log in campaigns(self.home)])
            raise ConfigError(f"there is no campaign {name!r} here.{near} Do: go to the list of campaigns")
        return path

    def logs(self) -> list[tuple[str, Path]]:
        """Every campaign's name and log: those that were named, then those of the workspace, the one written last first."""
        elsewhere = {path.resolve() for path in self.named.values()}
        here = [(path.stem, path) for path in campaigns(self.home)]
        return [*self.named.items(), *(found for found in here if found[1].resolve() not in elsewhere)]

    def runs(self, name: str) -> bool:
        """Whether somebody writes its log now."""
        return writer(self.path(name)) is not None

    def paused(self, name: str) -> bool:
        """Whether a person has paused it, as far as its log was read; asked while its campaign is held."""
        place = self._places.get(str(self.path(name)))
        return place is not None and place.campaign is not None and place.campaign.state.paused

    def close(self) -> None:
        """Closes all logs."""
        with self._lock:
            for place in self._places.values():
                with place.lock:
                    _close(place)
            self._places.clear()

    def _place(self, path: Path) -> _Place:
        with self._lock:
            place = self._places.setdefault(str(path), _Place())
            self._places.move_to_end(str(path))
            return place

    def _opened(self, name: str, path: Path, place: _Place) -> Campaign:
        """The campaign of this very file: another one may have taken its name."""
        status = path.stat()
        file = status.st_dev, status.st_ino
        if place.file != file:
            _close(place)
            place.file, place.opening = file, _Opening(path, self.plugins, self.home)
        opening = place.opening
        if opening is not None:
            if not opening.done.wait(PATIENCE_SECONDS):
                raise StillOpening(name, opening.seconds, status.st_size / 1e6)
            place.opening, place.campaign = None, opening.campaign
            if opening.error is not None:
                place.file = None
                raise opening.error
        assert place.campaign is not None, "the thread that opens it has said why, in the server's log"
        return place.campaign

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
    opening, place.opening, place.file = place.opening, None, None
    late = opening.campaign if opening is not None and opening.done.is_set() else None
    for campaign in (place.campaign, late):
        if campaign is not None:
            campaign.close()
    place.campaign = None
