"""`evolve devices`, and `--devices` of other commands."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from evolve.cli import devices as command
from evolve.cli import machine as options
from evolve.devices.inventory import usable
from evolve.devices.leases import Grant, LockPool, Locks

sys.path.insert(0, str(Path(__file__).parents[1] / "devices"))
from nvidia_fakes import GPUS, NAME, UUIDS


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Two GPUs, a folder of leases of its own, and the cores as they were afterwards."""
    folder = tmp_path / "leases"
    folder.mkdir()
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(command, "find_gpus", lambda: list(GPUS))
    monkeypatch.setattr(options, "find_gpus", lambda: list(GPUS))
    monkeypatch.setattr(command, "leases_folder", lambda: folder)
    cores = os.sched_getaffinity(0)
    yield folder
    os.sched_setaffinity(0, cores)


def test_the_page_says_what_there_is_and_who_has_it(call: Callable[..., Result], machine: Path) -> None:
    with Locks(machine).acquire([LockPool((f"gpu-{UUIDS[1]}",), 1)], "task kernels, stage full", alone=True):
        shown = call("devices")
    assert shown.exit_code == 0
    assert f"\nmachine    task kernels, stage full, process {os.getpid()}, for " in shown.stdout
    rows = [line.split("  ") for line in shown.stdout.splitlines() if NAME in line]
    assert [[cell.strip() for cell in row if cell.strip()][:5] for row in rows] == [
        ["0", NAME, "81559 MiB", "550.54.15", UUIDS[0]],
        ["1", NAME, "81559 MiB", "550.54.15", UUIDS[1]],
    ]
    assert rows[0][-1].strip() == "nobody"
    assert rows[1][-1].startswith(f"task kernels, stage full, process {os.getpid()}, for ")


def test_what_is_not_granted_is_told_as_such(call: Callable[..., Result]) -> None:
    told = json.loads(call("devices", "--devices", "gpu:1", "--json").stdout)
    assert [(card["gpu"]["uuid"], card["granted"]) for card in told["gpus"]] == [(UUIDS[0], False), (UUIDS[1], True)]
    assert "not granted here" in call("devices", "--devices", "cpu").stdout


def test_a_machine_without_a_gpu_says_so(call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "find_gpus", list)
    assert "\nno GPU was found\n" in call("devices").stdout


def test_a_command_is_kept_to_the_cores_that_it_may_use() -> None:
    """With all that it starts."""
    first = usable()[0]
    assert options.grant_devices((f"cpu:{first}",)) == Grant((first,), ())
    assert os.sched_getaffinity(0) == {first}


@pytest.mark.parametrize(
    "words",
    [
        ("run", "circle_packing", "--dry-run"),
        ("task", "check", "circle_packing"),
        ("program", "evaluate", "x.py", "--task", "circle_packing"),
        ("campaign", "rejudge", "none"),
        ("devices",),
    ],
)
def test_every_command_that_judges_refuses_a_device_that_there_is_not(
    call: Callable[..., Result], words: tuple[str, ...]
) -> None:
    """Before anything else is done."""
    failed = call(*words, "--devices", "gpu:7")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("evolve: error: --devices gpu:7: there is no GPU 7 here, but 0-1. Try: ")


@pytest.mark.integration
def test_a_run_judges_on_the_cores_that_it_was_granted(call: Callable[..., Result]) -> None:
    """One judge per core, unless it is said."""
    first = usable()[0]
    shown = call("run", "circle_packing", "--dry-run", "--json", "--devices", f"cpu:{first}")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["settings"]["workers"] == 1
