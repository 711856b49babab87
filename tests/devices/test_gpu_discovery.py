"""Which GPUs there are, by the sources that tell of them."""

from dataclasses import replace
from pathlib import Path

from nvidia_fakes import GPUS, FakeLibrary

from evolve.devices import Gpu, device_names, find_gpus, visibility
from evolve.devices.discovery import Sources
from evolve.devices.nvml import Nvml

INFORMATION = "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 65\nGPU UUID: \t {uuid}\nDevice Minor: \t {minor}\n"
SMI = (
    "0, GPU-aa, NVIDIA RTX A2000, 6138, 535.104.05\n"
    "1, GPU-bb, NVIDIA RTX A2000, [N/A], 535.104.05\n"
    "NVIDIA-SMI has failed\n"
)
AMD = Gpu(0, "GPU-00000000075bcd15", "AMD Instinct MI300X", 1 << 37, vendor="amd", nodes=("/dev/dri/renderD128",))


def nothing(tmp_path: Path) -> Sources:
    """A machine without a GPU."""
    return Sources(lambda: None, tmp_path / "driver", lambda: "", tmp_path / "kfd", tmp_path / "drm")


def with_driver(tmp_path: Path) -> Sources:
    """Two devices below /proc, of which one was never used."""
    for place, uuid, minor in (("0000:02:00.0", "GPU-????????-????", 1), ("0000:01:00.0", "GPU-cc", 0)):
        (tmp_path / "driver" / "gpus" / place).mkdir(parents=True)
        (tmp_path / "driver" / "gpus" / place / "information").write_text(INFORMATION.format(uuid=uuid, minor=minor))
    (tmp_path / "driver" / "version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\n")
    return nothing(tmp_path)


def with_amd(tmp_path: Path) -> Sources:
    """A processor and a GPU in the kernel's topology."""
    for number, identity in (("0", "0"), ("1", "4711")):
        node = tmp_path / "kfd" / number
        (node / "mem_banks" / "0").mkdir(parents=True)
        (node / "gpu_id").write_text(f"{identity}\n")
        (node / "properties").write_text("drm_render_minor 128\nunique_id 123456789\ngfx_target_version 90402\n")
        (node / "mem_banks" / "0" / "properties").write_text(f"heap_type 1\nsize_in_bytes {1 << 37}\n")
    card = tmp_path / "drm" / "renderD128" / "device"
    card.mkdir(parents=True)
    (card / "product_name").write_text("AMD Instinct MI300X\n")
    return nothing(tmp_path)


def test_a_machine_without_a_gpu_has_none(tmp_path: Path) -> None:
    assert find_gpus(nothing(tmp_path)) == []


def test_the_library_is_asked_first_and_let_go_of(tmp_path: Path) -> None:
    library = FakeLibrary()
    assert find_gpus(replace(with_driver(tmp_path), library=lambda: Nvml(library))) == list(GPUS)
    assert library.calls[-1] == "nvmlShutdown"


def test_without_it_the_driver_tells_what_it_knows(tmp_path: Path) -> None:
    """A device that has no name yet cannot be leased."""
    assert find_gpus(with_driver(tmp_path)) == [
        Gpu(0, "GPU-cc", "NVIDIA H100 80GB HBM3", 0, "550.54.15", nodes=("/dev/nvidia0",))
    ]


def test_at_last_the_command_is_asked_and_what_is_no_row_is_left_out(tmp_path: Path) -> None:
    assert find_gpus(replace(nothing(tmp_path), smi=lambda: SMI)) == [
        Gpu(0, "GPU-aa", "NVIDIA RTX A2000", 6138 << 20, "535.104.05"),
        Gpu(1, "GPU-bb", "NVIDIA RTX A2000", 0, "535.104.05"),
    ]


def test_amds_are_found_beside_nvidias(tmp_path: Path) -> None:
    """A node without a number is a processor."""
    assert find_gpus(with_amd(tmp_path)) == [AMD]
    assert find_gpus(replace(with_amd_again(tmp_path), library=lambda: Nvml(FakeLibrary()))) == [*GPUS, AMD]


def with_amd_again(tmp_path: Path) -> Sources:
    """The same folders."""
    return nothing(tmp_path)


def test_devices_are_named_by_their_models_with_their_numbers() -> None:
    assert [device_names(found) for found in ((), GPUS[:1], (*GPUS, AMD))] == [
        "",
        "Fake H100 80GB",
        "AMD Instinct MI300X, 2 x Fake H100 80GB",
    ]


def test_a_process_sees_the_devices_that_it_is_told_of_and_no_others() -> None:
    assert visibility(()) == {"CUDA_VISIBLE_DEVICES": ""}
    assert visibility(GPUS) == {"CUDA_VISIBLE_DEVICES": f"{GPUS[0].uuid},{GPUS[1].uuid}"}
    assert visibility((AMD,)) == {"CUDA_VISIBLE_DEVICES": "", "ROCR_VISIBLE_DEVICES": "0"}
