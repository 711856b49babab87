"""What the clocks of a compiled kernel's call say against each other."""

import pytest

from evolve import Timed
from evolve_kernel.compiled import _clocks

MORE, OUTSIDE = "more processor time than wall time", "work outside of the timed call"


@pytest.mark.parametrize(
    ("timed", "tag"),
    [
        (Timed(None, wall=0.010, cpu=0.010, outside=0.0, span=0.011), ""),
        (Timed(None, wall=0.010, cpu=0.020, outside=0.0, span=0.011), MORE),
        (Timed(None, wall=0.010, cpu=0.020, outside=0.0, span=0.021), ""),
        (Timed(None, wall=0.020, cpu=0.010, outside=0.0, span=0.021), ""),
        (Timed(None, wall=0.010, cpu=0.010, outside=0.004, span=0.011), ""),
        (Timed(None, wall=0.010, cpu=0.010, outside=0.005, span=0.011), OUTSIDE),
    ],
    ids=[
        "one thread",
        "two threads",
        "a machine that stood still after the call was done",
        "one that did something else meanwhile",
        "a little before",
        "much before",
    ],
)
def test_a_time_that_one_thread_cannot_have_used_is_refused(timed: Timed, tag: str) -> None:
    """Wall time alone says nothing: a processor that is taken away before the program is stopped counts as the program's."""
    assert _clocks(timed) == tag
