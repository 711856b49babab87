"""Where the candidates of a stage run."""

import os
import sys
import time
from pathlib import Path

import pytest
from judge_fakes import FakeBox, small_task

from evolve.devices.inventory import usable
from evolve.devices.leases import Grant, holders
from evolve.evaluation import device_allocator
from evolve.evaluation.device_allocator import DeviceAllocator
from evolve.sandbox.policy import Devices
from evolve.types import Grants, Limits, Needs, Program, SandboxError, Stage

sys.path.insert(0, str(Path(__file__).parents[1] / "devices"))
from nvidia_fakes import GPUS, NAME, UUIDS

PLAIN, BUILD = Stage("plain"), Stage("build")
TIMED = Stage("timed", needs=Needs(gpus=1, exclusive=True))
KEPT = Stage("kept", needs=Needs(pinned=True))
PINNED = Stage("pinned", needs=Needs(exclusive=True))
GRANTING = Limits(grants=Grants(gpu=2))


class Made:
    """DeviceAllocator in a folder of their own, with the boxes that they have made and what they have told."""

    def __init__(self, folder: Path, limits: Limits = GRANTING, grant: Grant | None = None) -> None:
        self.boxes: list[FakeBox] = []
        self.devices: list[Devices] = []
        self.told: list[bool] = []
        self.folder = folder
        made = Grant(folder=str(folder)) if grant is None else grant
        self.allocator = DeviceAllocator(small_task(limits=limits), made, self.make, self.told.append)

    def make(self, devices: Devices) -> FakeBox:
        self.devices.append(devices)
        self.boxes.append(FakeBox())
        return self.boxes[-1]

    def opened(self) -> list[int]:
        """How many sessions each box has opened."""
        return [len(box.sessions) for box in self.boxes]


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with two GPUs of one model."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # a lease yields to others before it has the machine again
    monkeypatch.setattr(device_allocator, "find_gpus", lambda: list(GPUS))


def test_a_stage_with_a_gpu_runs_in_a_box_that_sees_that_one_and_no_other(tmp_path: Path) -> None:
    """A build stage before it sees none, and holds none."""
    made = Made(tmp_path)
    with made.allocator.allocate(BUILD):
        made.allocator.open(Program({}), 1.0, "build")
        assert holders(tmp_path) == {}
    with made.allocator.allocate(TIMED) as allocation:
        made.allocator.open(Program({}), 1.0)
        assert set(holders(tmp_path)) == {f"gpu-{UUIDS[0]}", "machine"}
    assert made.opened() == [1, 1]
    assert made.devices == [
        Devices({"CUDA_VISIBLE_DEVICES": ""}, ("/dev/nvidia0", "/dev/nvidia1")),
        Devices({"CUDA_VISIBLE_DEVICES": UUIDS[0]}, ("/dev/nvidia1",)),
    ]
    assert (allocation.device, made.told) == (NAME, [True, False])  # its box had to be made
    assert allocation.conditions.endswith(f"; {NAME}, driver 550.54.15")
    assert holders(tmp_path) == {}


def test_a_box_is_kept_while_the_gpu_is_the_same_and_closed_when_it_is_another(tmp_path: Path) -> None:
    """A template is warm; and one that sees a GPU which others have is none to keep."""
    made, other = Made(tmp_path), Made(tmp_path)
    for _ in range(2):
        with made.allocator.allocate(TIMED):
            pass
    assert len(made.boxes) == 2
    with (
        other.allocator.allocate(Stage("gpu", needs=Needs(gpus=1))),
        made.allocator.allocate(Stage("gpu", needs=Needs(gpus=1))),
    ):
        assert made.devices[-1].environment == {"CUDA_VISIBLE_DEVICES": UUIDS[1]}
    assert [box.closed for box in made.boxes] == [False, True, False]
    made.allocator.close()
    assert [box.closed for box in made.boxes] == [True, True, True]


def test_several_gpus_are_seen_by_one_candidate(tmp_path: Path) -> None:
    made = Made(tmp_path)
    with made.allocator.allocate(Stage("both", needs=Needs(gpus=2))) as allocation:
        assert made.devices[-1] == Devices({"CUDA_VISIBLE_DEVICES": ",".join(UUIDS)}, ())
        assert allocation.device == f"2 x {NAME}"


def test_what_is_not_granted_is_not_leased(tmp_path: Path) -> None:
    """By words, or by the variable of CUDA."""
    made = Made(tmp_path, grant=Grant(gpus=(UUIDS[1],), folder=str(tmp_path)))
    with made.allocator.allocate(TIMED):
        assert made.devices[-1] == Devices({"CUDA_VISIBLE_DEVICES": UUIDS[1]}, ("/dev/nvidia0",))


def test_a_task_without_gpus_looks_for_none_and_sees_what_the_judge_sees(tmp_path: Path) -> None:
    made = Made(tmp_path, Limits())
    with made.allocator.allocate(PLAIN) as allocation:
        assert (allocation.device, allocation.conditions, made.devices) == ("cpu", "", [Devices()])
    assert (made.allocator.gpus, allocation.conditions) == ([], "")


def test_candidates_are_kept_to_leased_cores_and_let_go_again(tmp_path: Path) -> None:
    """Before the first lease of cores nothing is pinned, which costs nothing."""
    made = Made(tmp_path, Limits())
    for stage in (PLAIN, PINNED, PLAIN, PLAIN):
        with made.allocator.allocate(stage) as allocation:
            pass
    assert made.boxes[0].pinned == [(usable()[0],), usable(), usable()]
    with made.allocator.allocate(PINNED) as allocation:
        pass
    assert allocation.conditions.startswith(f"cores {usable()[0]}, ")


def test_a_judge_goes_with_what_is_pinned_and_comes_back(tmp_path: Path) -> None:
    """To the core that was leased, and no farther: a stage that has the machine to itself leaves its judge where it is."""
    made = Made(tmp_path, Limits())
    for stage, cores in ((KEPT, usable()[:1]), (PINNED, usable()), (PLAIN, usable())):
        with made.allocator.allocate(stage):
            assert tuple(sorted(os.sched_getaffinity(0))) == cores
    assert tuple(sorted(os.sched_getaffinity(0))) == usable()


def test_what_runs_on_any_core_is_not_timed(tmp_path: Path) -> None:
    """Neither the candidate nor what runs beside it."""
    made = Made(tmp_path, Limits())
    with made.allocator.allocate(PLAIN):
        for opened in (made.allocator.open, made.allocator.beside()):
            with pytest.raises(SandboxError, match=r"the stage 'plain' times its programs.* pinned = true"):
                opened(Program({}), 1.0, "timed")
    for stage in (KEPT, PINNED):
        with made.allocator.allocate(stage):
            made.allocator.open(Program({}), 1.0, "timed")
            made.allocator.beside()(Program({}), 1.0, "timed")
    assert made.opened() == [2, 2]


def test_the_hardware_class_names_the_gpus_that_stages_run_on(tmp_path: Path) -> None:
    made = Made(tmp_path)
    stages = [PLAIN, TIMED, Stage("both", needs=Needs(gpus=2))]
    assert [made.allocator.accelerators(stages[:count]) for count in (1, 2, 3)] == ["", NAME, f"2 x {NAME}"]


def test_a_box_that_cannot_be_made_ends_the_wait_for_it(tmp_path: Path) -> None:
    """And gives the device back."""
    made = Made(tmp_path)

    def broken(devices: Devices) -> FakeBox:
        raise SandboxError("no module named torch")

    made.allocator._make_box = broken
    with pytest.raises(SandboxError, match="torch"), made.allocator.allocate(TIMED):
        pass
    assert (made.told, holders(tmp_path)) == ([True, False], {})


def test_a_wait_is_reported_once_with_its_end(tmp_path: Path) -> None:
    made = Made(tmp_path)
    with made.allocator._wait() as waits:
        for _ in range(3):
            waits()
    with made.allocator._wait():
        pass
    assert made.told == [True, False]


def test_a_box_beside_the_candidates_has_their_cores_and_gpus(tmp_path: Path) -> None:
    """It is kept while these stay the same, and ends with the others."""
    made = Made(tmp_path)
    for _ in range(2):
        with made.allocator.allocate(TIMED):
            made.allocator.beside()(Program({}), 1.0)
    assert made.devices[1] == made.devices[2] != made.devices[0]
    assert made.boxes[2].pinned == made.boxes[1].pinned
    with made.allocator.allocate(BUILD):
        made.allocator.beside()(Program({}), 1.0)
    assert made.devices[3] == made.devices[0]
    assert [box.closed for box in made.boxes] == [False, False, True, False]
    made.allocator.close()
    assert all(box.closed for box in made.boxes)
