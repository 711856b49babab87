"""The suite for trackers: runs of a rehearsed campaign, of which a tracker is told as the engine tells it.

Invariant: a tracker is made on this thread and told on another one, in the engine's order; what it leaves open is found by this process's own lists of
threads and files."""

import threading
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from evolve.protocols import Tracker
from evolve.types import ProgramId, TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

_NAME = "rehearsed"
_OPEN_FILES = Path("/proc/self/fd")
_FIRST = TrackedBest(record=2, fitness=2.5, standard_error=0.25, certified=False, confirmed=False, claimed=False)
_SEED = TrackedRecord(
    campaign=_NAME,
    record=1,
    at=1_800_000_000.0,
    kind="seed",
    operator="",
    model="",
    parents=(),
    program=ProgramId("a" * 64),
    outcome="ok",
    fitness=2.5,
    standard_error=0.25,
    violation=0.0,
    certified=False,
    trust="witnessed",
    isolation="strict",
    insertion="NEW",
    island=0,
    seconds=0.5,
    best=_FIRST,
    records=1,
    programs=0,
    active_seconds=0.5,
    calls=0,
    tokens=0,
    money=0.0,
    gpu_seconds=0.0,
)
_CHILD = replace(_SEED, kind="proposal", operator="diff", model="fast", parents=(1,), calls=2, tokens=300, money=0.01)
_BETTER = replace(_FIRST, record=3, fitness=3.5, standard_error=None)
_PROVEN = replace(_BETTER, fitness=3.25, certified=True, confirmed=True)
_RECORDS: Sequence[TrackedRecord] = (
    replace(_SEED, fitness=None, standard_error=None, outcome="wrong", insertion="NOT_ADDED", best=None),
    _SEED,
    replace(_CHILD, fitness=3.5, standard_error=None, best=_BETTER),
    replace(_CHILD, kind="measurement", fitness=3.25, certified=True, parents=(), best=_PROVEN),
    replace(_CHILD, program=None, fitness=None, outcome="screened", insertion="NOT_ADDED", violation=1.5, best=_PROVEN),
)
"""A seed that is wrong, so that there is no best; one that is not; a better program by a model, its measurement, and an answer that was no program."""


def rehearse_tracking(tracker: Tracker, folder: Path, records: int = 0, reason: str = "budget") -> None:
    """Tells a tracker of a run with five records, whose log would lie in `folder` and has `records` records already; raises what it raises.
    On this thread; a `reason` that is empty is an error that ends the run."""
    _rehearse(tracker, _run(folder, records), _told(records), reason)


def check_tracker(make: Callable[[], Tracker], folder: Path) -> None:
    """Tells the trackers that `make()` returns of runs of a campaign whose log would lie in `folder`, which is empty: one that an error ended, one that goes
    on after it and has no record, and one that has more.

    Checked: making one opens nothing; each takes records of every kind on a thread that is not the main one; after the end of a
    run it has no file in `folder` open, and has left no thread that would keep the engine from ending; a campaign that goes on takes
    nothing away from what was written before."""
    before = _threads()
    first = make()
    assert not list(folder.iterdir()), f"making it writes {_listed(folder)}: nothing has begun yet"
    assert not _threads() - before, "making it starts a thread: nothing has begun yet"
    _tell(lambda: rehearse_tracking(first, folder, reason=""))
    _check_closed(folder, before)
    written = _sizes(folder)
    empty = make()
    _tell(lambda: _rehearse(empty, _run(folder, len(_RECORDS)), (), "exhausted"))
    _check_closed(folder, before)
    now = _sizes(folder)
    lost = sorted(name for name, size in written.items() if now.get(name, -1) < size)
    assert not lost, f"a campaign that goes on has lost what was written before, in {', '.join(lost)}. Do: add to it"
    last = make()
    _tell(lambda: rehearse_tracking(last, folder, records=len(_RECORDS)))
    _check_closed(folder, before)


def _run(folder: Path, records: int) -> TrackedRun:
    return TrackedRun(_NAME, "rehearsal", "1", "value", "max", str(folder / f"{_NAME}.db"), records, {"seed": 0})


def _told(records: int) -> Sequence[TrackedRecord]:
    """The records with the numbers that come after so many."""
    bests = [one.best and replace(one.best, record=one.best.record + records) for one in _RECORDS]
    numbered = enumerate(zip(_RECORDS, bests, strict=True), records + 1)
    return [replace(one, record=number, records=number, best=best) for number, (one, best) in numbered]


def _rehearse(tracker: Tracker, run: TrackedRun, told: Sequence[TrackedRecord], reason: str) -> None:
    tracker.campaign_begun(run)
    for record in told:
        tracker.record_settled(record)
    records = run.records + len(told)
    tracker.campaign_ended(TrackedEnd(_NAME, reason, records, records, told[-1].best if told else None))


def _tell(call: Callable[[], None]) -> None:
    """On a thread of its own, as the engine does; raises what the tracker raises."""
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(call).result()
        except Exception as error:
            raise AssertionError(f"it raises {type(error).__name__}: {error}") from error


def _check_closed(folder: Path, before: Set[threading.Thread]) -> None:
    still = sorted(name for name in _open() if Path(name).is_relative_to(folder.resolve()))
    assert not still, f"after the end of a run it has {', '.join(still)} open. Do: close it in `campaign_ended`"
    left = sorted(thread.name for thread in _threads() - before if not thread.daemon)
    assert not left, (
        f"after the end of a run it has left the thread {', '.join(left)}, which keeps the engine from ending. Do: end it, or make it a daemon"
    )


def _threads() -> Set[threading.Thread]:
    return set(threading.enumerate())


def _open() -> Set[str]:
    """The files that this process has open, where the system tells."""
    if not _OPEN_FILES.is_dir():
        return frozenset()
    found = set()
    for link in _OPEN_FILES.iterdir():
        with suppress(FileNotFoundError):
            found.add(str(link.readlink()))
    return found


def _sizes(folder: Path) -> dict[str, int]:
    """Of all files; a link may lead to another one after each run."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def _listed(folder: Path) -> str:
    return ", ".join(sorted(path.name for path in folder.iterdir()))
