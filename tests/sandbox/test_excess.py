"""What a candidate has too much of, by this machine's means and without them."""

from dataclasses import replace
from pathlib import Path

import pytest

from evolve.sandbox.inner.excess import Excess
from evolve.sandbox.inner.template import MEMORY
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.sandbox.policy import jail_for
from evolve.types import Limits


class FakeGroup:
    """Whose memory was exceeded, by the kernel's word."""

    def exceeded(self) -> bool:
        return True


def jail(home: Path, means: Means, inodes: int = 4):
    return replace(
        jail_for(str(home), Limits(memory=1 << 40), "python3", PLAIN, -1), limits=means.limits, inodes=inodes
    )


def test_files_beyond_their_number_are_too_much(tmp_path: Path) -> None:
    """In the words that the program's author reads."""
    excess = Excess(jail(tmp_path, PLAIN, 1), None)
    (tmp_path / "one").touch()
    assert excess.found() == ""
    (tmp_path / "two").touch()
    assert Excess(jail(tmp_path, PLAIN, 1), None).found() == (
        "made more than 1 files, which is all that its folder may hold"
    )


def test_without_limits_nothing_is_too_much(tmp_path: Path) -> None:
    """As level `none` has it."""
    (tmp_path / "one").touch()
    assert Excess(jail(tmp_path, NOTHING, 0), None).found() == ""


@pytest.mark.parametrize("inodes", [0, 4])
def test_a_control_group_goes_first(tmp_path: Path, inodes: int) -> None:
    """The kernel has ended something already."""
    (tmp_path / "one").touch()
    assert Excess(jail(tmp_path, PLAIN, inodes), FakeGroup()).found() == MEMORY  # type: ignore[arg-type]
