"""Cores and GPUs of a machine, as its files and NVIDIA's library tell of them."""

import ctypes
import shutil
from pathlib import Path

import pytest
from nvidia_fakes import GPUS, NAME, FakeLibrary, built_library

from evolve.devices import inventory
from evolve.devices.inventory import (
    choose_threads,
    device_names,
    find_gpus,
    governor,
    load,
    numbers,
    ranges,
    units,
    usable,
    visibility,
)


def system(folder: Path, siblings: dict[int, str], governors: dict[int, str] | None = None) -> Path:
    """A folder like /sys/devices/system/cpu."""
    for thread, told in siblings.items():
        (folder / f"cpu{thread}" / "topology").mkdir(parents=True)
        (folder / f"cpu{thread}" / "topology" / "thread_siblings_list").write_text(f"{told}\n")
    for thread, told in (governors or {}).items():
        (folder / f"cpu{thread}" / "cpufreq").mkdir(parents=True)
        (folder / f"cpu{thread}" / "cpufreq" / "scaling_governor").write_text(f"{told}\n")
    return folder


def test_the_threads_of_a_core_are_one_unit(tmp_path: Path) -> None:
    place = system(tmp_path, {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"})
    assert units(range(4), place) == {0: (0, 2), 1: (1, 3)}


def test_a_core_has_the_same_name_for_who_may_use_one_of_its_threads_alone(tmp_path: Path) -> None:
    place = system(tmp_path, {0: "0,2", 2: "0,2"})
    assert units({2}, place) == {0: (2,)}


def test_without_a_word_of_the_system_each_thread_is_a_core(tmp_path: Path) -> None:
    assert units({5, 3}, tmp_path) == {3: (3,), 5: (5,)}
    assert (governor({3}, tmp_path), load(tmp_path / "none")) == ("", "")


@pytest.mark.parametrize(("count", "threads"), [(1, (0,)), (2, (0, 1)), (3, (0, 1, 2)), (4, (0, 1, 2, 3))])
def test_one_thread_of_each_core_is_used_before_a_second_one_of_any(count: int, threads: tuple[int, ...]) -> None:
    assert choose_threads([(0, 2), (1, 3)], count) == threads


def test_governors_that_differ_are_all_told(tmp_path: Path) -> None:
    place = system(tmp_path, {}, {0: "powersave", 1: "performance", 2: "performance"})
    assert [governor(threads, place) for threads in ((1, 2), (0, 1, 2))] == ["performance", "performance+powersave"]


def test_the_load_is_that_of_the_last_minute(tmp_path: Path) -> None:
    (tmp_path / "loadavg").write_text("0.42 1.00 2.00 1/200 4711\n")
    assert load(tmp_path / "loadavg") == "0.42"


@pytest.mark.parametrize(("text", "found"), [("", []), ("3", [3]), ("0-2,5\n", [0, 1, 2, 5])])
def test_ranges_are_read_as_the_system_writes_them(text: str, found: list[int]) -> None:
    assert numbers(text) == found
    assert ranges(found) == text.strip()


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1-b", "0x1"])
def test_what_is_no_range_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="numbers are written like 0-3,8"):
        numbers(text)


def test_this_process_may_use_a_core() -> None:
    assert usable()


def test_the_library_is_asked_for_every_device_and_closed() -> None:
    library = FakeLibrary()
    assert find_gpus(lambda name: library) == list(GPUS)
    assert library.calls[-1] == "nvmlShutdown"


def test_a_device_that_is_lost_is_left_out_and_the_others_keep_their_numbers() -> None:
    assert find_gpus(lambda name: FakeLibrary(lost=frozenset({0}))) == [GPUS[1]]


def test_of_a_device_that_is_cut_the_slices_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with the files that open it and no other, where the driver names them."""
    monkeypatch.setattr(inventory, "CAPABILITIES", tmp_path)
    for place, minor in (("gi5", 12), ("gi5/ci0", 13), ("gi6", 21)):
        (tmp_path / "gpu0" / "mig" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "gpu0" / "mig" / place / "access").write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 292\n")
    first, second, whole = find_gpus(lambda name: FakeLibrary(cut={0: 2}))
    caps = "/dev/nvidia-caps/nvidia-cap"
    assert [(each.index, each.uuid, each.nodes) for each in (first, second)] == [
        (100, "MIG-10", (f"{caps}12", f"{caps}13")),
        (101, "MIG-11", (f"{caps}21",)),
    ]
    assert whole == GPUS[1]


def test_a_driver_that_knows_of_no_slices_has_whole_devices() -> None:
    assert find_gpus(lambda name: FakeLibrary(frozenset({"nvmlDeviceGetMigMode"}))) == list(GPUS)


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
