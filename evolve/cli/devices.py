"""`evolve devices`, the cores and GPUs of this machine and who has leased them; and the option `--devices` of other commands."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

import evolve.task
from evolve import wording
from evolve.cli.output import debug_option, emit, facts, json_option, one_line, say, table
from evolve.devices import EVERYTHING, Gpu, Grant, Holder, filter_gpus, find_gpus, holders, leases_folder, parse
from evolve.devices.leases import format_needs
from evolve.devices.processors import governor, load, ranges, units, usable
from evolve.evaluation.machine import processor
from evolve.stop import duration
from evolve.types import Task, TaskError

_DEVICES = "What may be used: cpu, cpu:0-3, gpu, gpu:0,1, a GPU's uuid; may be repeated. [default: all of it]"
_Command = TypeVar("_Command", bound=Callable[..., Any])


def devices_option(command: _Command) -> _Command:
    """Adds `--devices`, given to the command as `devices`."""
    return click.option("--devices", multiple=True, metavar="WHICH", help=_DEVICES)(command)


def grant_devices(words: Sequence[str]) -> Grant:
    """Returns the devices that the words grant, and keeps this process and everything that it starts to their cores; raises
    `ConfigError`. Call it before any process or thread is started, and before anybody counts cores."""
    if not words:
        return EVERYTHING
    grant = parse(words, find_gpus(), usable())
    if grant.cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, grant.cores)
    return grant


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
class Need:
    """Devices that a stage of a task leases; `met`: this machine has as much."""

    task: str
    stage: str
    needs: str
    met: bool


@dataclass(frozen=True, slots=True)
class MachineDevices:
    """The one object of `evolve devices --json`. `machine` holds the whole machine (None: nobody); `folder` is where leases lie."""

    processor: str
    load: str
    governor: str
    machine: Holder | None
    cores: tuple[Core, ...]
    gpus: tuple[Card, ...]
    needs: tuple[Need, ...]
    folder: str


@click.command()
@devices_option
@json_option
@debug_option
def devices(devices: tuple[str, ...], as_json: bool) -> None:
    """List the cores and GPUs of this machine, who has them now, and which tasks' needs can be met."""
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
        needs=tuple(
            Need(
                task.name,
                stage.name,
                format_needs(stage.needs),
                stage.needs.cores <= len(cores) and stage.needs.gpus <= len(allowed),
            )
            for task in _tasks()
            for stage in task.stages
            if stage.needs.leased
        ),
        folder=str(folder),
    )


def _tasks() -> Iterator[Task]:
    for place in evolve.task.list_tasks():
        try:
            yield evolve.task.load(place)
        except TaskError:  # `evolve task list` shows its problem
            continue


def _format(machine: MachineDevices, now: float) -> str:
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
    needs = [(need.task, need.stage, need.needs, "yes" if need.met else "NO") for need in machine.needs]
    others = f"the {'other ' if needs else ''}stages of the tasks here need one core like any other, and lease nothing"
    parts = [
        facts(_facts(machine, now)),
        table(("GPU", "model", "memory", "driver", "uuid", "held by"), cards) if cards else "no GPU was found",
        table(("task", "stage", "needs", "met here"), needs) if needs else "",
        others,
    ]
    return "\n\n".join(filter(None, parts))


def _facts(machine: MachineDevices, now: float) -> list[tuple[str, str]]:
    threads = [thread for core in machine.cores for thread in core.threads]
    shared = f" with {len(threads)} threads" if len(threads) > len(machine.cores) else ""
    state = {"load": machine.load, "governor": machine.governor}
    return [
        ("processor", machine.processor),
        ("cores", f"{len(machine.cores)}{shared}: {ranges(threads)}"),
        ("state", ", ".join(f"{name} {value}" for name, value in state.items() if value) or "unknown"),
        *((f"core {ranges(core.threads)}", _format_holder(core.holder, now)) for core in machine.cores if core.holder),
        ("machine", _format_holder(machine.machine, now, nobody="shared by all")),
        ("leases", machine.folder),
    ]


def _format_holder(holder: Holder | None, now: float, nobody: str = "nobody") -> str:
    if holder is None:
        return nobody
    if not holder.pid:
        return "somebody who has not said who"
    return f"{one_line(holder.what)}, process {holder.pid}, for {format_time(max(0.0, now - holder.since))}"


def format_time(seconds: float) -> str:
    """Returns a time that may be long: `25 min 3 s`, or `1.5 s`."""
    return duration(seconds) if seconds >= 60 else wording.seconds(seconds)
