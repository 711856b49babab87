"""What stages lease."""

from pathlib import Path

import pytest
from nvidia_fakes import GPUS

from evolve.devices import Leases, holders
from evolve.devices.leases import Lease, format_needs
from evolve.types import Needs, SandboxError

UNITS = {0: (0, 4), 1: (1, 5), 2: (2, 6)}


class Impatient(Exception):
    """Raised instead of waiting."""


def refused() -> None:
    raise Impatient


def leases(folder: Path) -> Leases:
    """Three cores with two threads each, and two GPUs."""
    return Leases(GPUS, UNITS, folder)


@pytest.mark.parametrize(
    ("needs", "lease", "held"),
    [
        (Needs(), Lease(), set()),
        (Needs(cores=2), Lease((0, 1)), {"core-0", "core-1"}),
        (Needs(cores=5), Lease((0, 1, 2, 4, 5)), {"core-0", "core-1", "core-2"}),
        (Needs(gpus=1), Lease((), GPUS[:1]), {f"gpu-{GPUS[0].uuid}"}),
        (Needs(gpus=2), Lease((), GPUS), {f"gpu-{gpu.uuid}" for gpu in GPUS}),
        (Needs(pinned=True), Lease((0,)), {"core-0"}),
        (Needs(exclusive=True), Lease((0,)), {"machine"}),
        (Needs(exclusive=True, pinned=True), Lease((0,)), {"machine"}),
        (Needs(2, 1, True), Lease((0, 1), GPUS[:1]), {"machine", f"gpu-{GPUS[0].uuid}"}),
    ],
)
def test_a_stage_leases_what_it_needs_and_gives_it_back(
    tmp_path: Path, needs: Needs, lease: Lease, held: set[str]
) -> None:
    """One core like any other is no lease; cores are leased whole."""
    with leases(tmp_path).lease(needs, "task t, stage s", refused) as taken:
        assert taken == lease
        assert set(holders(tmp_path)) == held
    assert holders(tmp_path) == {}


def test_two_stages_never_have_the_same_gpu_or_core(tmp_path: Path) -> None:
    with (
        leases(tmp_path).lease(Needs(1, 1), "one") as one,
        leases(tmp_path).lease(Needs(2, 1), "other", refused) as other,
    ):
        assert (one.gpus, other.gpus) == (GPUS[:1], GPUS[1:])
        with pytest.raises(Impatient), leases(tmp_path).lease(Needs(gpus=1), "third", refused):
            pass
        with pytest.raises(Impatient), leases(tmp_path).lease(Needs(cores=2), "third", refused):
            pass
        with leases(tmp_path).lease(Needs(), "any", refused):
            pass


@pytest.mark.parametrize("needs", [Needs(gpus=3), Needs(cores=7)])
def test_more_than_there_is_is_an_error_and_nothing_that_is_waited_for(tmp_path: Path, needs: Needs) -> None:
    with pytest.raises(SandboxError, match=r"6 cores and 2 GPUs may be leased here. Try: grant more"):
        leases(tmp_path).lease(needs, "too much").__enter__()


def test_a_lease_is_named_by_its_gpus() -> None:
    assert [Lease().device, Lease(gpus=GPUS[:1]).device, Lease(gpus=GPUS).device] == [
        "cpu",
        "Fake H100 80GB",
        "2 x Fake H100 80GB",
    ]


def test_needs_are_written_as_a_person_reads_them() -> None:
    assert [format_needs(needs) for needs in (Needs(), Needs(4, 1), Needs(1, 2, True))] == [
        "1 core",
        "4 cores, 1 GPU",
        "1 core, 2 GPUs, the machine to itself",
    ]
