"""`evolve devices`: the cores and GPUs of this machine, who has them now, and which tasks' needs can be met.

Invariant: nothing is leased and nothing changed; what is shown was looked up just now."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

import evolve.task
from evolve import wording
from evolve.cli.granting import devices_option, granted
from evolve.cli.output import debug_option, emit, facts, json_option, one_line, table
from evolve.cli.say import say
from evolve.devices import Gpu, Grant, Holder, found_gpus, granted_gpus, holders, leases_folder
from evolve.devices.leases import written
from evolve.devices.processors import governor, load, ranges, units, usable
from evolve.evaluation.machine import processor
from evolve.stop import duration
from evolve.types import Task, TaskError

_MACHINE, _CORE, _GPU = "machine", "core-", "gpu-"


@dataclass(frozen=True, slots=True)
class Core:
    """A core: its threads that may be used, and who has leased it (None: nobody)."""

    threads: tuple[int, ...]
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU, whether it may be leased, and who has leased it (None: nobody)."""

    gpu: Gpu
    granted: bool
    holder: Holder | None


@dataclass(frozen=True, slots=True)
class Need:
    """What a stage of a task leases; `met`: this machine has as much."""

    task: str
    stage: str
    needs: str
    met: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The one object of `evolve devices --json`. `machine` is who has it to itself (None: nobody); `folder` is where leases lie; `needs` are those of stages that lease something."""

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
    found = _found(granted(devices))
    if as_json:
        emit(found)
    else:
        say(_page(found))


def _found(grant: Grant) -> Found:
    cores, gpus, folder = usable(), found_gpus(), leases_folder()
    held, may = holders(folder), granted_gpus(gpus, grant)
    return Found(
        processor=processor(),
        load=load(),
        governor=governor(cores),
        machine=held.get(_MACHINE),
        cores=tuple(Core(threads, held.get(f"{_CORE}{core}")) for core, threads in units(cores).items()),
        gpus=tuple(Card(gpu, gpu in may, held.get(f"{_GPU}{gpu.uuid}")) for gpu in gpus),
        needs=tuple(need for task in _tasks() for need in _needs(task, len(cores), len(may))),
        folder=str(folder),
    )


def _tasks() -> Sequence[Task]:
    """Those that come with evolve and those in ./tasks; one that does not load is `evolve task list`'s to tell of."""
    found = []
    for place in sorted({*evolve.task.own(), *map(evolve.task.find, evolve.task.bundled())}):
        try:
            found.append(evolve.task.load(place))
        except TaskError:
            continue
    return found


def _needs(task: Task, cores: int, gpus: int) -> Sequence[Need]:
    """Of the stages that lease something."""
    return [
        Need(task.name, stage.name, written(stage.needs), stage.needs.cores <= cores and stage.needs.gpus <= gpus)
        for stage in task.stages
        if stage.needs.leased
    ]


def _page(found: Found) -> str:
    now = time.time()
    parts = [facts(_machine(found, now))]
    rows = [
        (
            f"{card.gpu.index}",
            card.gpu.name,
            f"{card.gpu.memory >> 20} MiB" if card.gpu.memory else "-",
            card.gpu.driver or "-",
            card.gpu.uuid,
            _held(card.holder, now) if card.granted else "not granted here",
        )
        for card in found.gpus
    ]
    parts.append(table(("GPU", "model", "memory", "driver", "uuid", "held by"), rows) if rows else "no GPU was found")
    needs = [(need.task, need.stage, need.needs, "yes" if need.met else "NO") for need in found.needs]
    parts += [table(("task", "stage", "needs", "met here"), needs)] if needs else []
    parts.append(
        f"the {'other ' if needs else ''}stages of the tasks here need one core like any other, and lease nothing"
    )
    return "\n\n".join(parts)


def _machine(found: Found, now: float) -> list[tuple[str, str]]:
    threads = [thread for core in found.cores for thread in core.threads]
    shared = any(len(core.threads) > 1 for core in found.cores)
    size = f"{len(found.cores)} with {len(threads)} threads" if shared else f"{len(threads)}"
    rows = [("processor", found.processor), ("cores", f"{size}: {ranges(threads)}")]
    state = {"load": found.load, "governor": found.governor}
    rows.append(("state", ", ".join(f"{name} {value}" for name, value in state.items() if value) or "not told"))
    rows += [(f"core {ranges(core.threads)}", _held(core.holder, now)) for core in found.cores if core.holder]
    return [*rows, ("machine", _held(found.machine, now, nobody="shared by all")), ("leases", str(Path(found.folder)))]


def _held(holder: Holder | None, now: float, nobody: str = "nobody") -> str:
    if holder is None:
        return nobody
    if not holder.pid:
        return "somebody who has not said who"
    return f"{one_line(holder.what)}, process {holder.pid}, for {_time(max(0.0, now - holder.since))}"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 60 else wording.seconds(seconds)
