"""Which cores and GPUs the candidates of a box may use."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evolve.sandbox import policy as policy_module
from evolve.sandbox.box import Box
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.sandbox.policy import Devices, jail_for
from evolve.types import Grants, Limits, Program, SandboxError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="cores are chosen so on Linux alone"),
]
MEANS = probe().means
ASKING = Program(
    {
        "asking.py": """
import os
def cores():
    return sorted(os.sched_getaffinity(0))
def others():
    try:
        os.sched_setaffinity(0, range(os.cpu_count()))
    except OSError:
        pass
    return cores()
def variable(name):
    return os.environ.get(name, "none")
"""
    }
)
CORES = sorted(os.sched_getaffinity(0))
several = pytest.mark.skipif(len(CORES) < 2, reason="this process may use one core alone")


def asked(box: Box, function: str, *arguments: str) -> object:
    with box.open(ASKING, "asking", 20.0) as session:
        return session.call(function, *arguments)


@pytest.fixture(params=[NOTHING, PLAIN, MEANS], ids=["nothing", "plain", "the best"])
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    """At the lowest and at the highest level of this machine."""
    means: Means = request.param
    made = Box(Limits(), means=means)
    yield made
    made.close()


@several
def test_candidates_run_on_the_cores_that_they_are_kept_to_until_they_are_let_go(box: Box) -> None:
    """Also where their template was started anew meanwhile."""
    assert asked(box, "cores") == CORES
    box.pin(CORES[1:2])
    assert asked(box, "cores") == CORES[1:2]
    box.close()
    assert asked(box, "cores") == CORES[1:2]
    box.pin(CORES)
    assert asked(box, "cores") == CORES


@several
@pytest.mark.skipif(not MEANS.seccomp, reason="without a filter a program may choose its cores")
def test_a_program_cannot_choose_other_cores() -> None:
    box = Box(Limits(), means=MEANS)
    box.pin(CORES[:1])
    assert asked(box, "others") == CORES[:1]
    box.close()


def test_cores_that_may_not_be_used_are_an_error_with_the_remedy() -> None:
    box = Box(Limits())
    with pytest.raises(SandboxError, match=r"candidates cannot be kept to the cores \[100000\].*Try: let this process"):
        box.pin([100_000])
    box.close()


def test_candidates_are_told_which_gpus_they_have() -> None:
    """Whatever the judge is told."""
    box = Box(Limits(), devices=Devices({"CUDA_VISIBLE_DEVICES": "GPU-b"}))
    assert asked(box, "variable", "CUDA_VISIBLE_DEVICES") == "GPU-b"
    box.close()


def test_the_file_of_a_gpu_that_others_have_is_not_in_the_jail(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What all share is."""
    nodes = ("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl")
    monkeypatch.setattr(policy_module, "gpu_nodes", lambda: nodes)
    limits = Limits(grants=Grants(gpu=1))
    jail = jail_for(str(tmp_path), limits, sys.executable, PLAIN, -1, (), Devices(closed=("/dev/nvidia0",)))
    assert jail.nodes == ("/dev/nvidia1", "/dev/nvidiactl")
    assert jail_for(str(tmp_path), limits, sys.executable, PLAIN, -1).nodes == nodes
