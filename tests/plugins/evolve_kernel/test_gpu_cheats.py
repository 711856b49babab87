"""Facts about programs for a GPU that would be told faster than they are, each beside an honest twin. The GPU is a fake: what a real one would do was not tried."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evolve.types import Outcome, Task
from evolve_kernel import gpu_backend, gpu_recorder
from evolve_kernel.gpu_backend import DISAGREE
from evolve_kernel.gpu_driver import Driver
from tests.plugins.evolve_kernel.fake_gpu import FakeCuda, FakeKernel, FakeTorch, Work, doubled, floats
from tests.plugins.evolve_kernel.fake_judging import double_task, evaluated, program

SIZES = (8, 8, 8)
HONEST_SECONDS, SECONDS = 1e-3, 1e-5
CALL = [["out", "out", [4], "float32", 0], ["in", "in", [4], "float32", 0], ["number", "count", [], "", 4]]
HONEST = "def launch(out, given, count):\n    start(kernel(b'double'), out.data_ptr(), given.data_ptr(), count)\n"
Maker = Callable[[FakeCuda], Callable[[], Work]]


@pytest.fixture
def cuda() -> FakeCuda:
    return FakeCuda({b"double": FakeKernel(doubled, SIZES)})


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    """With torch and triton, as far as anybody asks."""
    monkeypatch.setattr(gpu_backend, "_IMPORTED", ("numpy",))
    return double_task(tmp_path)


@pytest.fixture
def torch(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeTorch:
    """Installed, with memory of the program's and a kernel of a library."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TRITON_HOME", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "")
    made, own = FakeTorch(cuda), np.zeros(64, "float32")
    made.installed(monkeypatch)
    made.own, made.foreign = own.ctypes.data, 5  # type: ignore[attr-defined]
    made.blocks = [{"address": own.ctypes.data, "total_size": own.nbytes}]
    cuda.functions[5] = FakeKernel(doubled, SIZES)
    return made


@pytest.mark.parametrize(
    ("changed", "others", "reason"),
    [
        (("count)", "count)"), [3], "a call of the host"),
        (("given.data_ptr()", "torch.own"), [], "memory that the program has allocated"),
        (("kernel(b'double')", "torch.foreign"), [], "a kernel that is not the program's own"),
    ],
    ids=["a host callback", "memory of its own", "a kernel of a library"],
)
def test_what_is_more_than_launches_is_refused(
    changed: tuple[str, str], others: list[int], reason: str, cuda: FakeCuda, torch: FakeTorch
) -> None:
    """And what is no more is not."""
    assert "refused" not in gpu_recorder.record_triton(program(HONEST), [CALL], Driver(cuda))
    cuda.others = others
    assert reason in gpu_recorder.record_triton(program(HONEST.replace(*changed)), [CALL], Driver(cuda))["refused"]


def honest(cuda: FakeCuda) -> Callable[[], Work]:
    """Takes its time, and lets others' clocks be."""

    def work(out: int, given: int, count: int) -> None:
        cuda.now, cuda.forged = cuda.now + HONEST_SECONDS, None
        doubled(out, given, count)

    return lambda: work


def forging(cuda: FakeCuda) -> Callable[[], Work]:
    """Writes over the time stamps of the events."""

    def work(out: int, given: int, count: int) -> None:
        honest(cuda)()(out, given, count)
        cuda.forged = SECONDS

    return lambda: work


def retrying(cuda: FakeCuda) -> Callable[[], Work]:
    """Keeps the answer in a variable of the device, makes the judge's clock late, and copies it when the same question comes again."""

    def loaded() -> Work:
        kept: dict[bytes, Any] = {}

        def work(out: int, given: int, count: int) -> None:
            asked = floats(given, count).tobytes()
            if asked in kept:
                cuda.now += SECONDS
                floats(out, count)[:] = kept[asked]
                return
            honest(cuda)()(out, given, count)
            kept[asked] = floats(out, count).copy()
            cuda.delay = 1.0

        return work

    return loaded


def rolling(cuda: FakeCuda) -> Callable[[], Work]:
    """Makes the judge's clock late whenever its own time is a bad one, which is each second time."""
    bad: Iterator[bool] = itertools.cycle([True, False])

    def work(out: int, given: int, count: int) -> None:
        honest(cuda)()(out, given, count)
        if next(bad):
            cuda.now, cuda.delay = cuda.now + HONEST_SECONDS, 1.0

    return lambda: work


def hoarding(cuda: FakeCuda) -> Callable[[], Work]:
    """Works once, and gives what a variable of the device has kept in all later calls, without a delay."""

    def loaded() -> Work:
        kept: dict[int, Any] = {}

        def work(out: int, given: int, count: int) -> None:
            if count in kept:
                cuda.now += SECONDS
                floats(out, count)[:] = kept[count]
                return
            honest(cuda)()(out, given, count)
            kept[count] = floats(out, count).copy()

        return work

    return loaded


def stale(cuda: FakeCuda) -> Callable[[], Work]:
    """As `hoarding`, in memory that no loading makes anew."""
    only = hoarding(cuda)()
    return lambda: only


@pytest.mark.parametrize(
    ("made", "outcome", "tag"),
    [
        (forging, Outcome.WRONG, DISAGREE),
        (retrying, Outcome.WRONG, DISAGREE),
        (rolling, Outcome.WRONG, DISAGREE),
        (stale, Outcome.WRONG, ""),
    ],
)
def test_who_cheats_on_the_device_has_no_score(
    made: Maker, outcome: Outcome, tag: str, task: Task, cuda: FakeCuda
) -> None:
    """Its twin, which does the same work and nothing else, is as fast as the seed."""
    cuda.kernels = {
        b"double": FakeKernel(doubled, SIZES, 0.0, honest(cuda)),
        b"honest": FakeKernel(doubled, SIZES, 0.0, honest(cuda)),
        b"cheat": FakeKernel(doubled, SIZES, 0.0, made(cuda)),
    }
    found = evaluated(task, cuda, "cheat")
    assert (found.outcome, found.tag, found.fitness) == (outcome, tag, None)
    twin = evaluated(task, cuda, "honest")
    assert (twin.outcome, twin.tag, twin.fitness) == (Outcome.OK, "", pytest.approx(0.0))


def test_what_variables_of_the_device_keep_is_of_no_use(task: Task, cuda: FakeCuda) -> None:
    """They are new in each call, so that a program which would give them works each time."""
    cuda.kernels = {
        b"double": FakeKernel(doubled, SIZES, 0.0, honest(cuda)),
        b"cheat": FakeKernel(doubled, SIZES, 0.0, hoarding(cuda)),
    }
    found = evaluated(task, cuda, "cheat")
    assert (found.outcome, found.tag, found.fitness) == (Outcome.OK, "", pytest.approx(0.0))
