"""Memory that a judge shares with candidates."""

import fcntl
import os
import subprocess
import sys

import numpy
import pytest

from evolve.sandbox.timing import Segment

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="files in memory that can be sealed are Linux's"),
]


def test_views_are_of_the_same_memory() -> None:
    """Which is zeros at first; each where it was asked for."""
    with Segment(1000) as segment:
        numbers, bytes_ = segment.view(8, (2, 3), "float32"), segment.view(0, [1000], "uint8")
        assert not bytes_.any()
        numbers[1, 2] = 1.0
        assert (bytes_[8 + 5 * 4 : 8 + 6 * 4].tobytes(), numbers.shape) == (numpy.float32(1).tobytes(), (2, 3))


def test_its_size_cannot_be_changed_by_who_has_the_file() -> None:
    """So that reading it can never be an error of the bus; nor can it be closed to writing."""
    with Segment(4096) as segment:
        for size in (0, 8192):
            with pytest.raises(PermissionError):
                os.ftruncate(segment.fileno(), size)
        with pytest.raises(PermissionError):
            fcntl.fcntl(segment.fileno(), fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)


@pytest.mark.parametrize(
    ("offset", "shape", "dtype", "message"),
    [
        (993, (1,), "float64", "ends at 1001, and the segment has 1000"),
        (-1, (1,), "uint8", "is none"),
        (0, (-1,), "uint8", "is none"),
        (0, (1,), "object", "allowed are bool, "),
    ],
)
def test_an_array_lies_in_the_segment(offset: int, shape: tuple[int, ...], dtype: str, message: str) -> None:
    """Or is one clear error."""
    with Segment(1000) as segment, pytest.raises(ValueError, match=message):
        segment.window(offset, shape, dtype)


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_size_is_a_whole_number_above_0(size: object) -> None:
    with pytest.raises(ValueError, match="Try: "):
        Segment(size)  # type: ignore[arg-type]


def test_arrays_outlive_their_segment() -> None:
    """What was computed from them is not suddenly gone; and no descriptor is left."""
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with Segment(64) as segment:
        view = segment.view(0, (8,), "float64")
        view[:] = 3.0
    segment.close()
    assert (view.sum(), len(os.listdir("/proc/self/fd"))) == (24.0, before + 1)  # noqa: PTH208
    assert segment.fileno() == -1


def test_the_sandbox_needs_no_numpy() -> None:
    """A judge may run where there is none."""
    source = "import sys; sys.modules['numpy'] = None; from evolve.sandbox.timing import Segment; Segment(10)"
    assert subprocess.run([sys.executable, "-c", source], capture_output=True).returncode == 0
