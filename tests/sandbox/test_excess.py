"""What a candidate has too much of, by this machine's means and without them."""

import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.sandbox.inner.excess import Census, Excess, more_than
from evolve.sandbox.inner.template import MEMORY
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.sandbox.policy import jail_for
from evolve.types import Limits


class FakeGroup:
    """Whose memory was exceeded, by the kernel's word."""

    def is_exceeded(self) -> bool:
        return True


def jail(home: Path, means: Means, inodes: int = 4):
    return replace(
        jail_for(str(home), Limits(memory=1 << 40), "python3", PLAIN, -1), limits=means.limits, inodes=inodes
    )


def test_files_beyond_their_number_are_too_much(tmp_path: Path) -> None:
    """In the words that the program's author reads."""
    excess = Excess(jail(tmp_path, PLAIN, 1), None)
    (tmp_path / "one").touch()
    assert excess.find() == ""
    (tmp_path / "two").touch()
    assert Excess(jail(tmp_path, PLAIN, 1), None).find() == (
        "made more than 1 files, which is all that its folder may hold"
    )


def test_without_limits_nothing_is_too_much(tmp_path: Path) -> None:
    """As level `none` has it."""
    (tmp_path / "one").touch()
    assert Excess(jail(tmp_path, NOTHING, 0), None).find() == ""


@pytest.mark.parametrize("inodes", [0, 4])
def test_a_control_group_goes_first(tmp_path: Path, inodes: int) -> None:
    """The kernel has ended something already."""
    (tmp_path / "one").touch()
    assert Excess(jail(tmp_path, PLAIN, inodes), FakeGroup()).find() == MEMORY  # type: ignore[arg-type]


class Clock:
    """Goes on by so many seconds with each look."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._now = 0.0

    def __call__(self) -> float:
        self._now += self._step
        return self._now


def exceeds(most: int, folder: Path) -> bool:
    number = os.open(folder, os.O_RDONLY)
    try:
        return more_than(most, number)
    finally:
        os.close(number)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), max_size=8))
def test_every_entry_of_every_depth_counts(tmp_path_factory: pytest.TempPathFactory, paths: list[list[str]]) -> None:
    """Folders and what is in them; one entry more than allowed is found, and one less is not."""
    folder = tmp_path_factory.mktemp("census")
    for path in paths:
        folder.joinpath(*path).mkdir(parents=True, exist_ok=True)
    there = len(list(folder.rglob("*")))
    assert [exceeds(there, folder), exceeds(there - 1, folder)] == [False, True]


def test_a_link_counts_and_is_not_followed(tmp_path: Path) -> None:
    """Whatever it leads to."""
    for name in "abc":
        (tmp_path / "outside" / name).mkdir(parents=True)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "own" / "loop").symlink_to("loop")
    assert [exceeds(2, tmp_path / "own"), exceeds(1, tmp_path / "own")] == [False, True]


def test_deeper_than_descriptors_can_be_opened_is_too_much(tmp_path: Path) -> None:
    """And none is left open."""
    tmp_path.joinpath(*["d"] * 100).mkdir(parents=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = os.listdir("/dev/fd")  # noqa: PTH208 names are wanted
    free = [number for number in range(1000) if str(number) not in before]
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[40], hard))
    try:
        assert exceeds(1000, tmp_path) is True
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert exceeds(1000, tmp_path) is False
    assert os.listdir("/dev/fd") == before  # noqa: PTH208


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system has no /proc")
def test_what_its_owner_may_write_but_not_read_counts(users_home: Path) -> None:
    """It is opened first."""
    (users_home / "closed" / "inner").mkdir(parents=True)
    (users_home / "closed").chmod(0o300)
    assert [exceeds(2, users_home), exceeds(1, users_home)] == [False, True]


@pytest.mark.parametrize(("step", "rests"), [(1 / 64, 8), (1 / 8, 2), (1.0, 0)])
def test_after_a_count_it_rests_nine_times_as_long(tmp_path: Path, step: float, rests: int) -> None:
    """Or for 0.3 s where that is less."""
    census = Census(str(tmp_path), 0, Clock(step))
    assert census.is_exceeded() is False
    (tmp_path / "file").write_text("")
    assert [census.is_exceeded() for _ in range(rests + 1)] == [False] * rests + [True]
