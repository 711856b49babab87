"""`evolve devices`: the cores and GPUs of this machine and who has leased them."""

import time
from dataclasses import dataclass

import click

from evolve import wording
from evolve.cli.machine import devices_option, grant_devices
from evolve.cli.output import emit, facts, json_option, one_line, say, table
from evolve.devices.inventory import Gpu, find_gpus, governor, load, ranges, units, usable
from evolve.devices.leases import Grant, Holder, filter_gpus, holders, leases_folder
from evolve.evaluation.provenance import processor


@dataclass(frozen=True, slots=True)
class Core:
    """A core: its usable threads, and the holder of its lease (None: nobody)."""

    threads: tuple[int, ...]
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU, whether it may be leased, and the holder of its lease (None: nobody)."""

    gpu: Gpu
    granted: bool
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class MachineDevices:
    """The one object of `evolve devices --json`. `machine` holds the whole machine (None: nobody); `folder` is where leases lie."""

    processor: str
    load: str
    governor: str
    machine: Holder | None
    cores: tuple[Core, ...]
    gpus: tuple[Card, ...]
    folder: str


@click.command()
@devices_option
@json_option
def devices(devices: tuple[str, ...], as_json: bool) -> None:
    """List the cores and GPUs of this machine, and who has them now."""
    machine = _look_up(grant_devices(devices))
    if as_json:
        emit(machine)
    else:
        say(_format(machine, time.time()))


def _look_up(grant: Grant) -> MachineDevices:
    cores, gpus, folder = usable(), find_gpus(), leases_folder()
    holder, allowed = holders(folder), filter_gpus(gpus, grant)
    return MachineDevices(
        processor=processor(),
        load=load(),
        governor=governor(cores),
        machine=holder.get("machine"),
        cores=tuple(Core(threads, holder.get(f"core-{core}")) for core, threads in units(cores).items()),
        gpus=tuple(Card(gpu, gpu in allowed, holder.get(f"gpu-{gpu.uuid}")) for gpu in gpus),
        folder=str(folder),
    )


def _format(machine: MachineDevices, now: float) -> str:
    threads = [thread for core in machine.cores for thread in core.threads]
    shared = f" with {len(threads)} threads" if len(threads) > len(machine.cores) else ""
    state = {"load": machine.load, "governor": machine.governor}
    rows = [
        ("processor", machine.processor),
        ("cores", f"{len(machine.cores)}{shared}: {ranges(threads)}"),
        ("state", ", ".join(f"{name} {value}" for name, value in state.items() if value) or "unknown"),
        *((f"core {ranges(core.threads)}", _format_holder(core.holder, now)) for core in machine.cores if core.holder),
        ("machine", _format_holder(machine.machine, now) if machine.machine else "shared by all"),
        ("leases", machine.folder),
    ]
    cards = [
        (
            f"{card.gpu.index}",
            card.gpu.name,
            f"{card.gpu.memory >> 20} MiB" if card.gpu.memory else "-",
            card.gpu.driver or "-",
            card.gpu.uuid,
            _format_holder(card.holder, now) if card.granted else "not granted here",
        )
        for card in machine.gpus
    ]
    headings = ("GPU", "model", "memory", "driver", "uuid", "held by")
    return f"{facts(rows)}\n\n{table(headings, cards) if cards else 'no GPU was found'}"


def _format_holder(holder: Holder | None, now: float) -> str:
    if holder is None:
        return "nobody"
    if not holder.pid:
        return "somebody who has not said who"
    return f"{one_line(holder.what)}, process {holder.pid}, for {wording.long_time(max(0.0, now - holder.since))}"
