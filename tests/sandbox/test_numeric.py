"""How many threads numerical libraries start."""

import sys
from contextlib import closing
from pathlib import Path

import pytest

from evolve.devices.inventory import usable_cores
from evolve.sandbox.box import Box
from evolve.sandbox.inner.numeric import pools
from evolve.sandbox.machine.probe import probe
from evolve.types import Grants, Limits, Program

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what is loaded, and who runs"),
]
two_cores = pytest.mark.skipif(usable_cores() < 2, reason="libraries start no more threads than there are cores")

PROGRAM = """
import os

def counted():
    import numpy
    square = numpy.ones((700, 700))
    for _ in range(3):
        square @ square
    return [len(os.listdir("/proc/self/task")), os.environ["OMP_NUM_THREADS"]]
"""


def test_a_system_that_does_not_tell_has_no_pools(tmp_path: Path) -> None:
    """Nor has what is no library, or is gone."""
    assert pools(tmp_path / "none") == []
    (tmp_path / "maps").write_text("7f00-7f01 r-xp 00000000 08:01 1  /gone/libopenblas.so\n7f01-7f02 rw-p 0 00:00 0\n")
    assert pools(tmp_path / "maps") == []


@two_cores
@pytest.mark.parametrize("preload", [("numpy",), ()])
@pytest.mark.parametrize("boxed", [True, False])
def test_a_candidate_has_the_threads_that_its_task_grants(preload: tuple[str, ...], boxed: bool) -> None:
    """Of what the template has loaded before, and of what it loads itself; one without the grant."""
    found = {}
    for threads in (1, 2):
        limits = Limits(preload=preload, grants=Grants(threads=threads))
        box = Box(limits, means=probe().means) if boxed else Box(limits)
        with closing(box), box.open(Program({"seed.py": PROGRAM}), "seed", 30.0) as session:
            found[threads] = session.call("counted")
    assert found == {1: [1, "1"], 2: [2, "2"]}


@two_cores
def test_a_fresh_interpreter_has_them_too() -> None:
    """It is told by its environment."""
    limits = Limits(grants=Grants(threads=2, template=False))
    box = Box(limits, means=probe().means)
    with closing(box), box.open(Program({"seed.py": PROGRAM}), "seed", 30.0) as session:
        assert session.call("counted") == [2, "2"]
