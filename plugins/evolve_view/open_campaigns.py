"""Campaigns that pages are made of: opened when first asked for, kept, and brought up to date; and the lines of the list of campaigns.

One thread at a time has a campaign, a log is only read, and nobody waits long for a large one. The list replays no log: a short one that was not opened
yet is replayed once by one thread in the background."""

import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evolve import report
from evolve.campaign import Campaign, campaigns, log_path
from evolve.commands import Plugins
from evolve.report import Best, LogHeader, writer
from evolve.types import ConfigError, EvolveError
from evolve.types.errors import did_you_mean

KEPT = 6
"""So many campaigns stay open; one of 100,000 records takes a few hundred MB."""
OPENING_SECONDS = 1.0
"""A page waits so long for a log to be opened; then it says that it is being opened."""


class StillOpening(Exception):
    """A log has been opening for `seconds`; it has `megabytes`."""

    def __init__(self, name: str, seconds: float, megabytes: float) -> None:
        super().__init__(name)
        self.name, self.seconds, self.megabytes = name, seconds, megabytes


class _OpeningThread:
    """Thread that opens a campaign; nobody waits for it when the server ends."""

    def __init__(self, path: Path, plugins: Plugins, home: Path) -> None:
        self.campaign: Campaign | None = None
        self.error: EvolveError | None = None
        self.done = threading.Event()
        self._began = time.monotonic()
        self._place = path, plugins, home
        threading.Thread(target=self._open, name=f"opens {path.name}", daemon=True).start()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
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
class _OpenPlace:
    """A log's open campaign, and the lock of whoever has it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    file: tuple[int, int] | None = None
    """Device and number of the file that is open."""
    opening: _OpeningThread | None = None
    campaign: Campaign | None = None


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
        """Yields a campaign as its log is now. Raises `ConfigError` for one that there is not, `StoreError` for a log that cannot be read,
        `StillOpening` where it takes a while."""
        path = self.path(name)
        place = self._place(path)
        with place.lock:
            campaign = self._opened(name, path, place)
            campaign.follow()
            yield campaign
        self._tidy()

    def path(self, name: str) -> Path:
        """Returns where a campaign's log lies; raises `ConfigError`. A name in an address is never a path."""
        if name in self.named:
            return self.named[name]
        path = log_path(self.home, name)
        if not path.is_file():
            near = did_you_mean(name, [log.stem for log in campaigns(self.home)])
            raise ConfigError(f"there is no campaign {name!r} here.{near} Do: go to the list of campaigns")
        return path

    def logs(self) -> list[tuple[str, Path]]:
        """Returns every campaign's name and log: those that were named, then those of the workspace, the one written last first."""
        elsewhere = {path.resolve() for path in self.named.values()}
        here = [(path.stem, path) for path in campaigns(self.home)]
        return [*self.named.items(), *(found for found in here if found[1].resolve() not in elsewhere)]

    def runs(self, name: str) -> bool:
        """Returns true while somebody writes its log."""
        return writer(self.path(name)) is not None

    def paused(self, name: str) -> bool:
        """Returns true where a person has paused it, as far as its log was read; asked while its campaign is held."""
        place = self._places.get(str(self.path(name)))
        return place is not None and place.campaign is not None and place.campaign.state.paused

    def close(self) -> None:
        """Closes all logs."""
        with self._lock:
            for place in self._places.values():
                with place.lock:
                    _close(place)
            self._places.clear()

    def _place(self, path: Path) -> _OpenPlace:
        with self._lock:
            place = self._places.setdefault(str(path), _OpenPlace())
            self._places.move_to_end(str(path))
            return place

    def _opened(self, name: str, path: Path, place: _OpenPlace) -> Campaign:
        """Returns the campaign of this very file: another one may have taken its name."""
        status = path.stat()
        file = status.st_dev, status.st_ino
        if place.file != file:
            _close(place)
            place.file, place.opening = file, _OpeningThread(path, self.plugins, self.home)
        opening = place.opening
        if opening is not None:
            if not opening.done.wait(OPENING_SECONDS):
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


def _close(place: _OpenPlace) -> None:
    opening, place.opening, place.file = place.opening, None, None
    late = opening.campaign if opening is not None and opening.done.is_set() else None
    for campaign in (place.campaign, late):
        if campaign is not None:
            campaign.close()
    place.campaign = None


SHORT = 10_000
"""Events of a log that is replayed for the list."""
Version = tuple[int, int, int]
"""Number, size and moment of the last write of a file."""


@dataclass(frozen=True, slots=True)
class CampaignState:
    """A campaign's best when its log had `events` events, and whether a person had paused it; `best` is None where no program has passed."""

    events: int
    best: Best | None
    paused: bool = False


@dataclass(frozen=True, slots=True)
class CampaignLine:
    """One line of the list; `state` is None as long as nobody has opened the log, and is `behind` by so many events."""

    name: str
    header: LogHeader
    running: bool
    written: float
    megabytes: float
    state: CampaignState | None
    behind: int
    long: bool


class CampaignList:
    """Lines of the list, and the thread that opens short logs."""

    def __init__(self, plugins: Plugins, home: Path) -> None:
        self._plugins = plugins
        self._home = home
        self._states: dict[Path, CampaignState] = {}
        self._headers: dict[Path, tuple[Version, LogHeader]] = {}
        self._asked: set[tuple[Path, int]] = set()
        self._wanted: queue.Queue[Path] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def keep(self, campaign: Campaign) -> None:
        """Remembers what an open campaign says of its best."""
        self._states[campaign.log.path.resolve()] = CampaignState(
            campaign.events, report.best(campaign), campaign.state.paused
        )

    def read_line(self, name: str, path: Path) -> CampaignLine:
        """Returns the line of a log; that of a short one says more soon."""
        status = path.stat()
        header = self.read_header(path)
        state = self._states.get(path.resolve())
        long = header.events > SHORT
        behind = header.events - (state.events if state else 0)
        if behind > 0 and not long and not header.problem:
            self._ask(path, header.events)
        megabytes = status.st_size / 1e6
        return CampaignLine(name, header, writer(path) is not None, status.st_mtime, megabytes, state, behind, long)

    def read_header(self, path: Path) -> LogHeader:
        """Returns what is read of a log without a replay; read again only where somebody wrote since."""
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        known = self._headers.get(path)
        wal = path.with_name(f"{path.name}-wal")
        if known is not None and known[0] == version and not (wal.exists() and wal.stat().st_size):
            return known[1]
        header = report.read_header(path)
        self._headers[path] = version, header
        return header

    def _ask(self, path: Path, events: int) -> None:
        with self._lock:
            if (path, events) in self._asked:
                return
            self._asked.add((path, events))
            self._wanted.put(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._open_all, name="evolve-view-list", daemon=True)
                self._thread.start()

    def _open_all(self) -> None:
        while True:
            path = self._wanted.get()
            try:
                with Campaign.open(str(path), self._plugins, self._home) as campaign:
                    self.keep(campaign)
            except EvolveError:
                self._headers.pop(path, None)
