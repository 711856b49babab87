"""What the list of campaigns says of each: little that is read at once, and the best program as soon as somebody has opened the log.

Invariant: a request replays nothing. A log that was not opened yet is replayed once by one thread in the background, and only where it is
short; what is said of a best program is always what the whole campaign says."""

import queue
import threading
from dataclasses import dataclass
from pathlib import Path

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.campaign import settings_of, task_of
from evolve.log import Log, writer
from evolve.plugins import Plugins
from evolve.report import Best
from evolve.types import EvolveError, Fitness, StoreError

SHORT = 10_000
"""Events of a log that is replayed for the list."""
Version = tuple[int, int, int]
"""A file's number, size and moment of the last write."""


@dataclass(frozen=True, slots=True)
class Found:
    """A campaign's best as it was when its log had `events` events, and whether a person had paused it; `best` is None where no program has
    passed."""

    events: int
    best: Best | None
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Opening:
    """What is read of a log without a replay. `problem` says why it cannot be read; `fitness` is None then."""

    task: str = "-"
    fitness: Fitness | None = None
    strategy: str = "-"
    budget: tuple[str, ...] = ()
    records: int = 0
    events: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Glance:
    """One line of the list; `found` is None as long as nobody has opened the log; `behind`: events came since."""

    name: str
    opening: Opening
    running: bool
    written: float
    megabytes: float
    found: Found | None
    behind: int
    long: bool


class Glances:
    """The lines, and the thread that opens short logs."""

    def __init__(self, plugins: Plugins, home: Path) -> None:
        self._plugins = plugins
        self._home = home
        self._found: dict[Path, Found] = {}
        self._openings: dict[Path, tuple[Version, Opening]] = {}
        self._asked: set[tuple[Path, int]] = set()
        self._wanted: queue.Queue[Path] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def keep(self, campaign: Campaign) -> None:
        """What an open campaign says of its best."""
        self._found[campaign.log.path.resolve()] = Found(campaign.events, report.best(campaign), campaign.state.paused)

    def line(self, name: str, path: Path) -> Glance:
        """The line of a log; the short ones will say more soon."""
        status = path.stat()
        opening = self.opening(path)
        found = self._found.get(path.resolve())
        long = opening.events > SHORT
        behind = opening.events - (found.events if found else 0)
        if behind > 0 and not long and not opening.problem:
            self._ask(path, opening.events)
        megabytes = status.st_size / 1e6
        return Glance(name, opening, writer(path) is not None, status.st_mtime, megabytes, found, behind, long)

    def opening(self, path: Path) -> Opening:
        """What is read of a log without a replay; read again only where somebody wrote since."""
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        known = self._openings.get(path)
        wal = path.with_name(f"{path.name}-wal")
        if known is not None and known[0] == version and not (wal.exists() and wal.stat().st_size):
            return known[1]
        opening = _read(path)
        self._openings[path] = version, opening
        return opening

    def _ask(self, path: Path, events: int) -> None:
        with self._lock:
            if (path, events) in self._asked:
                return
            self._asked.add((path, events))
            self._wanted.put(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._open_all, name="glances", daemon=True)
                self._thread.start()

    def _open_all(self) -> None:
        while True:
            path = self._wanted.get()
            try:
                with Campaign.open(str(path), self._plugins, self._home) as campaign:
                    self.keep(campaign)
            except EvolveError:
                self._openings.pop(path, None)


def _read(path: Path) -> Opening:
    try:
        with Log.open(path, readonly=True) as log:
            task, settings = task_of(log), settings_of(log)
            return Opening(
                task.name, task.fitness, settings.strategy.name, tuple(settings.budget), log.records(), log.count()
            )
    except StoreError as error:
        return Opening(problem=str(error))
