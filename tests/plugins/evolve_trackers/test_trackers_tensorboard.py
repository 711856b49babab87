"""The tracker `tensorboard`: by a fake of tensorboardX's small interface, and by the real one where it is installed."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evolve.plugins import load
from evolve.testing import check_tracker
from evolve.types import ConfigError
from evolve_trackers.tensorboard import TensorBoard, TensorBoardSettings, list_scalars
from tests.tracked import END, RECORD, a_run


class FakeWriter:
    """Remembers."""

    made: list["FakeWriter"] = []

    def __init__(self, folder: str, filename_suffix: str) -> None:
        self.folder, self.suffix, self.scalars, self.closed = folder, filename_suffix, [], False
        self.made.append(self)

    def add_scalar(self, name: str, value: float, step: int, walltime: float) -> None:
        self.scalars.append((name, value, step, walltime))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[FakeWriter]:
    monkeypatch.setattr(FakeWriter, "made", [])
    return FakeWriter.made


def test_the_number_of_a_record_is_its_step(tmp_path: Path, made: list[FakeWriter]) -> None:
    """Beside the log; a campaign that goes on drops nothing that was written."""
    tracker = TensorBoard(FakeWriter, TensorBoardSettings())
    tracker.campaign_begun(a_run(tmp_path, 6))
    tracker.record_settled(replace(RECORD, record=7))
    tracker.campaign_ended(END)
    (writer,) = made
    assert (writer.folder, writer.suffix, writer.closed) == (str(tmp_path / "mine.tensorboard"), ".6", True)
    assert ("best/fitness", 2.5, 7, 1_800_000_000.0) in writer.scalars


def test_a_failed_program_is_no_point_of_the_fitness() -> None:
    """Its outcome is one."""
    names = [name for name, _ in list_scalars(replace(RECORD, fitness=None, outcome="timed_out", best=None, calls=0))]
    assert names == ["record/seconds", "outcome/timed_out", "spent/programs", "spent/seconds"]


def test_what_is_missing_is_told_before_a_campaign_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ConfigError, match=r"not installed. Try: pip install 'evolve\[tensorboard\]'"):
        load().tracker("tensorboard", {})


def test_it_keeps_the_promises_of_a_tracker(tmp_path: Path, made: list[FakeWriter]) -> None:
    """As a campaign tells it, by the fake: each writer is closed."""
    check_tracker(lambda: TensorBoard(FakeWriter, TensorBoardSettings()), tmp_path)
    assert [(writer.suffix, writer.closed) for writer in made] == [(".0", True), (".5", True), (".5", True)]


@pytest.mark.filterwarnings("ignore")
def test_the_real_one_keeps_the_promises_of_a_tracker(tmp_path: Path) -> None:
    """Where tensorboardX is installed."""
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed: pip install 'evolve[tensorboard]'")
    check_tracker(lambda: load().tracker("tensorboard", {}), tmp_path)


def read(folder: Path) -> list[tuple[str, int, float]]:
    """The scalars in the files of a folder: name, step, value."""
    from tensorboardX.event_file_writer import EventsWriter  # noqa: F401  # the package is whole
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.iterdir()):
        data, place = path.read_bytes(), 0
        while place < len(data):
            length = int.from_bytes(data[place : place + 8], "little")
            event = Event.FromString(data[place + 12 : place + 12 + length])
            found += [(value.tag, event.step, value.simple_value) for value in event.summary.value]
            place += 16 + length
    return found


def test_tensorboardx_writes_what_is_read_back(tmp_path: Path) -> None:
    """Two runs of one campaign are one curve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorboardX")
        for first in (1, 2):
            tracker: Any = load().tracker("tensorboard", {})
            tracker.campaign_begun(a_run(tmp_path, first - 1))
            tracker.record_settled(replace(RECORD, record=first))
            tracker.campaign_ended(END)
    curve = [(step, value) for name, step, value in read(tmp_path / "mine.tensorboard") if name == "best/fitness"]
    assert sorted(curve) == [(1, 2.5), (2, 2.5)]
