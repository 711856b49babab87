"""Campaigns that pages are made of: opened when first asked for, kept, and brought up to date. One thread at a time has a campaign, and a log is only read."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evolve.campaign import Campaign, campaigns, log_path
from evolve.commands import Plugins
from evolve.report import writer
from evolve.types import ConfigError
from evolve.types.errors import did_you_mean

KEPT = 6
"""Campaigns that stay open; one of 100,000 records takes a few hundred MB."""


@dataclass(slots=True)
class _OpenPlace:
    """A log's open campaign, the device and number of the file that is open, and the lock of whoever has it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    file: tuple[int, int] | None = None
    campaign: Campaign | None = None

    def close(self) -> None:
        if self.campaign is not None:
            self.campaign.close()
        self.campaign, self.file = None, None


class OpenCampaigns:
    """Open campaigns of a workspace; `named` are logs that lie elsewhere."""

    def __init__(self, home: Path, plugins: Plugins, named: Mapping[str, Path] | None = None) -> None:
        self.home = home
        self.named = dict(named or {})
        self.plugins = plugins
        self._places: OrderedDict[str, _OpenPlace] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def campaign(self, name: str) -> Iterator[Campaign]:
        """Yields a campaign as its log is now. Raises `ConfigError` for one that there is not, `StoreError` for a log that cannot be read."""
        path = self.path(name)
        with self._lock:
            place = self._places.setdefault(str(path), _OpenPlace())
            self._places.move_to_end(str(path))
        with place.lock:
            campaign = self._open(path, place)
            campaign.follow()
            yield campaign
        self._close_oldest()

    def path(self, name: str) -> Path:
        """Returns where a campaign's log lies; raises `ConfigError`. A name in an address is never a path."""
        if name in self.named:
            return self.named[name]
        path = log_path(self.home, name)
        if not path.is_file():
            near = did_you_mean(name, [log.stem for log in campaigns(self.home)])
            raise ConfigError(f"there is no campaign {name!r} here.{near} Try: go to the list of campaigns")
        return path

    def logs(self) -> list[tuple[str, Path]]:
        """Returns every campaign's name and log: those that were named, then those of the workspace, the one written last first."""
        elsewhere = {path.resolve() for path in self.named.values()}
        here = [(path.stem, path) for path in campaigns(self.home)]
        return [*self.named.items(), *(found for found in here if found[1].resolve() not in elsewhere)]

    def is_running(self, name: str) -> bool:
        """Returns true while a process writes the campaign's log."""
        return writer(self.path(name)) is not None

    def is_paused(self, name: str) -> bool:
        """Returns true where a person has paused the campaign, as far as its log was read; called while the campaign is held."""
        place = self._places.get(str(self.path(name)))
        return place is not None and place.campaign is not None and place.campaign.state.paused

    def close(self) -> None:
        """Closes all logs."""
        with self._lock:
            for place in self._places.values():
                with place.lock:
                    place.close()
            self._places.clear()

    def _open(self, path: Path, place: _OpenPlace) -> Campaign:
        status = path.stat()
        file = status.st_dev, status.st_ino
        # Another log may have taken the name since.
        if place.campaign is None or place.file != file:
            place.close()
            place.campaign, place.file = Campaign.open(str(path), self.plugins, self.home), file
        return place.campaign

    def _close_oldest(self) -> None:
        with self._lock:
            for path in list(self._places)[: max(0, len(self._places) - KEPT)]:
                place = self._places[path]
                # A campaign that is being read stays for the next time.
                if place.lock.acquire(blocking=False):
                    try:
                        place.close()
                        del self._places[path]
                    finally:
                        place.lock.release()
