"""The suite for trackers finds each broken promise, and is told as a campaign would."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evolve.testing import check_tracker, rehearse_tracking
from evolve_trackers.jsonl import Jsonl, JsonlSettings


class Plain:
    """Keeps every promise: a line for each record."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.file: Any = None

    def campaign_begun(self, run: Any) -> None:
        self.told.append(run)
        self.file = Path(run.log).with_suffix(".txt").open("a")

    def record_settled(self, record: Any) -> None:
        self.told.append(record.record)
        self.file.write(f"{record.record}\n")

    def campaign_ended(self, end: Any) -> None:
        self.told.append(end)
        self.file.close()


class Wanting(Plain):
    """Wants a fitness of every record."""

    def record_settled(self, record: Any) -> None:
        round(record.fitness)


class Forgetful(Plain):
    """Begins its file anew."""

    def campaign_begun(self, run: Any) -> None:
        super().campaign_begun(run)
        if run.records == 5:
            self.file.truncate(0)


class Lingering(Plain):
    """Leaves a thread that nobody ends."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()

    def campaign_ended(self, end: Any) -> None:
        super().campaign_ended(end)
        threading.Thread(target=self.over.wait, name="lingering").start()


class Main(Plain):
    """Works on the main thread alone."""

    def campaign_begun(self, run: Any) -> None:
        super().campaign_begun(run)
        if threading.current_thread() is not threading.main_thread():
            self.file.close()
            raise ValueError("signal only works in main thread")


def test_what_keeps_its_promises_passes(tmp_path: Path) -> None:
    """The bundled `jsonl`, too."""
    for name, make in (("plain", Plain), ("jsonl", lambda: Jsonl(JsonlSettings()))):
        (tmp_path / name).mkdir()
        check_tracker(make, tmp_path / name)
    assert (tmp_path / "plain" / "rehearsed.txt").read_text().split() == [str(number) for number in range(1, 11)]


def test_a_tracker_is_told_in_order_and_once(tmp_path: Path) -> None:
    """The run, its records by their numbers, and the end; a campaign that goes on has the next ones."""
    tracker = Plain()
    rehearse_tracking(tracker, tmp_path, records=5, reason="")
    run, *records, end = tracker.told
    assert (run.records, records, end.reason, end.records) == (5, [6, 7, 8, 9, 10], "", 10)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Wanting, "it raises TypeError"),
        (Forgetful, r"a campaign that goes on has lost what was written before, in rehearsed.txt. Try: add to it"),
        (Lingering, "it has left the thread lingering, which keeps the engine from ending. Try: "),
        (Main, "it raises ValueError: signal only works in main thread"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_broken_promise_is_told(tmp_path: Path, make: Callable[[], Plain], message: str) -> None:
    """By what it does."""
    made: list[Plain] = []

    def kept() -> Plain:
        made.append(make())
        return made[-1]

    with pytest.raises(AssertionError, match=message):
        check_tracker(kept, tmp_path)
    for tracker in made:
        if isinstance(tracker, Lingering):
            tracker.over.set()
        if tracker.file is not None:
            tracker.file.close()


def test_making_a_tracker_begins_nothing(tmp_path: Path) -> None:
    """A campaign may never be made."""

    def written() -> Plain:
        (tmp_path / "early.txt").write_text("x")
        return Plain()

    with pytest.raises(AssertionError, match=r"making it writes early.txt: nothing has begun yet"):
        check_tracker(written, tmp_path)
