"""NVIDIA's GPUs, by its management library: as an object and as a library."""

import ctypes
import shutil
from pathlib import Path

import pytest
from nvidia_fakes import GPUS, NAME, FakeLibrary, built_library

from evolve.devices import device_names, find_gpus, visibility


def test_the_library_is_asked_for_every_device_and_closed() -> None:
    library = FakeLibrary()
    assert find_gpus(lambda name: library) == list(GPUS)
    assert library.calls[-1] == "nvmlShutdown"


def test_a_device_that_is_lost_is_left_out_and_the_others_keep_their_numbers() -> None:
    assert find_gpus(lambda name: FakeLibrary(lost=frozenset({0}))) == [GPUS[1]]


def test_what_a_device_does_not_tell_is_empty() -> None:
    silent = frozenset({"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMinorNumber", "nvmlSystemGetDriverVersion"})
    found = find_gpus(lambda name: FakeLibrary(silent))[0]
    assert (found.memory, found.nodes, found.driver, found.name) == (0, (), "", NAME)


def test_a_device_without_a_uuid_cannot_be_leased() -> None:
    assert find_gpus(lambda name: FakeLibrary(frozenset({"nvmlDeviceGetUUID"}))) == []


def test_without_a_library_or_a_driver_there_is_no_gpu() -> None:
    def missing(name: str) -> object:
        raise OSError(f"{name}: cannot open shared object file")

    assert find_gpus(missing) == []
    assert find_gpus(lambda name: FakeLibrary(frozenset({"nvmlInit_v2"}))) == []
    assert find_gpus(lambda name: object()) == []


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_functions_of_a_real_library_are_called_as_they_are_declared(tmp_path: Path) -> None:
    """Its handles are pointers of 64 bits, and its structures have their sizes."""
    built_library(tmp_path)
    assert find_gpus(lambda name: ctypes.CDLL(str(tmp_path / name))) == list(GPUS)


def test_devices_are_named_by_their_models_with_their_numbers() -> None:
    assert [device_names(found) for found in ((), GPUS[:1], GPUS)] == ["", "Fake H100 80GB", "2 x Fake H100 80GB"]


def test_a_process_sees_the_devices_that_it_is_told_of_and_no_others() -> None:
    assert visibility(()) == {"CUDA_VISIBLE_DEVICES": ""}
    assert visibility(GPUS) == {"CUDA_VISIBLE_DEVICES": f"{GPUS[0].uuid},{GPUS[1].uuid}"}
