"""How busy and how fast what was leased was."""

from nvidia_fakes import GPUS, FakeLibrary

from evolve.devices import Gpu
from evolve.devices.conditions import Conditions, format_pace
from evolve.devices.nvml import Nvml, Pace
from evolve.devices.processors import usable


def told(cores: tuple[int, ...], gpus: tuple[Gpu, ...]) -> str:
    with Conditions(cores, gpus, Nvml(FakeLibrary())) as conditions:
        pass
    return conditions.told


def test_a_stage_that_leased_nothing_tells_nothing() -> None:
    assert told((), ()) == ""


def test_cores_are_told_with_the_load_before_the_stage() -> None:
    cores = usable()[:1]
    assert told(cores, ()).startswith(f"cores {cores[0]}, ")
    assert "load " in told(cores, ())


def test_a_gpu_is_told_with_its_driver_and_its_clocks_at_the_end() -> None:
    """One whose pace nobody can tell is named alone."""
    pace = "SM 1755 of 1980 MHz, memory 2619 MHz, 41 C"
    assert told((), GPUS[:1]) == f"Fake H100 80GB, driver 550.54.15, {pace}"
    assert told((), GPUS) == f"2 x Fake H100 80GB, driver 550.54.15, {pace}, {pace}"
    assert told((), (Gpu(0, "AMD-1", "AMD GPU", vendor="amd"),)) == "AMD GPU"


def test_what_a_gpu_does_not_tell_is_left_out() -> None:
    assert [format_pace(Pace()), format_pace(Pace(sm=5)), format_pace(Pace(sm_most=5, celsius=40))] == [
        "",
        "SM 5 MHz",
        "40 C",
    ]
