"""NVIDIA's management library, as an object and as a library."""

import ctypes
import shutil
from pathlib import Path

import pytest
from nvidia_fakes import GPUS, NAME, UUIDS, FakeLibrary, built_library

from evolve.devices.nvml import Nvml, Pace

PACE = Pace(sm=1755, sm_most=1980, memory=2619, celsius=41)


def test_every_device_is_told_with_its_name_memory_driver_and_file() -> None:
    assert Nvml(FakeLibrary()).gpus() == list(GPUS)


def test_a_device_that_is_lost_is_left_out_and_the_others_keep_their_numbers() -> None:
    assert Nvml(FakeLibrary(lost=frozenset({0}))).gpus() == [GPUS[1]]


def test_what_a_device_does_not_tell_is_empty() -> None:
    silent = frozenset({"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMinorNumber", "nvmlSystemGetDriverVersion"})
    found = Nvml(FakeLibrary(silent)).gpus()[0]
    assert (found.memory, found.nodes, found.driver, found.name) == (0, (), "", NAME)
    quiet = Nvml(FakeLibrary(frozenset({"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature"})))
    assert quiet.pace(UUIDS[0]) == Pace(sm_most=1980)


def test_a_device_that_does_not_tell_who_it_is_cannot_be_leased() -> None:
    assert Nvml(FakeLibrary(frozenset({"nvmlDeviceGetUUID"}))).gpus() == []


def test_the_pace_is_that_of_now_and_unknown_of_a_device_that_is_gone() -> None:
    assert [Nvml(FakeLibrary()).pace(uuid) for uuid in (UUIDS[1], "GPU-gone")] == [PACE, Pace()]


def test_without_a_library_or_a_driver_there_is_nothing_to_ask() -> None:
    def missing(name: str) -> object:
        raise OSError(f"{name}: cannot open shared object file")

    assert Nvml.open(missing) is None
    assert Nvml.open(lambda name: FakeLibrary(frozenset({"nvmlInit_v2"}))) is None
    assert Nvml.open(lambda name: object()) is None


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_functions_of_a_real_library_are_called_as_they_are_declared(tmp_path: Path) -> None:
    """Its handles are pointers of 64 bits, and its structures have their sizes."""
    built_library(tmp_path)
    nvml = Nvml.open(lambda name: ctypes.CDLL(str(tmp_path / name)))
    assert nvml is not None
    assert (nvml.gpus(), nvml.pace(UUIDS[0])) == (list(GPUS), PACE)
    nvml.close()
