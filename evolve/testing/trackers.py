"""Suite for trackers: runs of a rehearsed campaign.

As in the engine, a tracker is made on one thread and called on another, in the order of events."""

import threading
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from evolve.protocols import Tracker
from evolve.types import ProgramId, TrackedBest, TrackedEnd, TrackedRecord, TrackedRun

_NAME = "rehearsed"
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
    """Calls a tracker for a run with five records, whose log would lie in `folder` and has `records` records already; raises what it raises.
    An empty `reason` is an error that ends the run."""
    _rehearse(tracker, _make_run(folder, records), _number_records(records), reason)


def check_tracker(make: Callable[[], Tracker], folder: Path) -> None:
    """Calls the trackers that `make()` returns for runs of a campaign whose log would lie in `folder`, which is empty: one that an error ended, one that goes
    on after it and has no record, and one that has more.

    Checked: making one opens nothing; each takes records of every kind on a thread that is not the main one; after the end of a
    run it has left no thread that would keep the engine from ending; a campaign that goes on takes nothing away from what was written
    before."""
    before = _threads()
    first = make()
    early = ", ".join(sorted(path.name for path in folder.iterdir()))
    assert not early, f"making it writes {early}: nothing has begun yet"
    assert not _threads() - before, "making it starts a thread: nothing has begun yet"
    _call_on_thread(lambda: rehearse_tracking(first, folder, reason=""))
    _check_threads(before)
    written = _sizes(folder)
    empty = make()
    _call_on_thread(lambda: _rehearse(empty, _make_run(folder, len(_RECORDS)), (), "exhausted"))
    _check_threads(before)
    now = _sizes(folder)
    lost = sorted(name for name, size in written.items() if now.get(name, -1) < size)
    assert not lost, f"a campaign that goes on has lost what was written before, in {', '.join(lost)}. Try: add to it"
    last = make()
    _call_on_thread(lambda: rehearse_tracking(last, folder, records=len(_RECORDS)))
    _check_threads(before)


def _make_run(folder: Path, records: int) -> TrackedRun:
    return TrackedRun(_NAME, "rehearsal", "1", "value", "max", str(folder / f"{_NAME}.db"), records, {"seed": 0})


def _number_records(records: int) -> Sequence[TrackedRecord]:
    """Returns the sample records with the numbers that come after so many."""
    bests = [one.best and replace(one.best, record=one.best.record + records) for one in _RECORDS]
    numbered = enumerate(zip(_RECORDS, bests, strict=True), records + 1)
    return [replace(one, record=number, records=number, best=best) for number, (one, best) in numbered]


def _rehearse(tracker: Tracker, run: TrackedRun, records: Sequence[TrackedRecord], reason: str) -> None:
    tracker.campaign_begun(run)
    for record in records:
        tracker.record_settled(record)
    count = run.records + len(records)
    tracker.campaign_ended(TrackedEnd(_NAME, reason, count, count, records[-1].best if records else None))


def _call_on_thread(call: Callable[[], None]) -> None:
    # A library that asks for the main thread fails here, and not in a campaign.
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(call).result()
        except Exception as error:
            raise AssertionError(f"it raises {type(error).__name__}: {error}") from error


def _check_threads(before: Set[threading.Thread]) -> None:
    left = sorted(thread.name for thread in _threads() - before if not thread.daemon)
    assert not left, (
        f"after the end of a run it has left the thread {', '.join(left)}, which keeps the engine from ending. Try: end it, or make it a daemon"
    )


def _threads() -> Set[threading.Thread]:
    return set(threading.enumerate())


def _sizes(folder: Path) -> dict[str, int]:
    # A link may lead to another file after each run.
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
