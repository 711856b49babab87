"""Devices that may be leased: those of `--devices`, or of `CUDA_VISIBLE_DEVICES` where that option is not given.

Invariant: what a word names is there; one that names nothing is an error with what there is."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evolve.devices.gpus import Gpu
from evolve.devices.processors import numbers, ranges
from evolve.types import ConfigError

_DO = "Try: write cpu, cpu:0-3, gpu, gpu:0,1 or a GPU's uuid; `evolve devices` lists what there is"


@dataclass(frozen=True, slots=True)
class Grant:
    """The threads of cores that may be used, and the GPUs, by their uuids, that may be leased; None: all of them. `folder` is where the leases lie; empty: where
    they always do."""

    cores: tuple[int, ...] | None = None
    gpus: tuple[str, ...] | None = None
    folder: str = ""


EVERYTHING = Grant()
"""All cores that the engine may use, and all GPUs."""


def parse(words: Sequence[str], gpus: Sequence[Gpu], cores: Collection[int]) -> Grant:
    """Parses words such as `cpu`, `cpu:0-3`, `gpu`, `gpu:0,1` and a uuid; raises `ConfigError`.
    Words about cores alone grant no GPU, and words about GPUs alone all cores; no words grant everything."""
    if not words:
        return EVERYTHING
    chosen_cores: set[int] = set()
    chosen_gpus: list[str] = []
    known = {gpu.index: gpu.uuid for gpu in reversed(gpus)}
    for word in words:
        kind, _, which = word.partition(":")
        if kind == "cpu":
            chosen_cores.update(_parse_numbers(word, which, cores))
        elif kind == "gpu" and gpus:
            chosen_gpus += [known[index] for index in _parse_numbers(word, which, sorted(known))]
        elif word in known.values():
            chosen_gpus.append(word)
        else:
            what = "no GPU was found on this machine" if kind == "gpu" else "there is no such device"
            raise ConfigError(f"--devices {word}: {what}. {_DO}")
    return Grant(tuple(sorted(chosen_cores)) or None, tuple(dict.fromkeys(chosen_gpus)))


def _parse_numbers(word: str, which: str, known: Collection[int]) -> list[int]:
    """Returns the numbers behind the colon of a word; without any, all that are known."""
    try:
        wanted = numbers(which) or list(known)
    except ValueError as error:
        raise ConfigError(f"--devices {word}: {error}. {_DO}") from None
    missing = set(wanted) - set(known)
    if missing:
        what = "core" if word.startswith("cpu") else "GPU"
        raise ConfigError(f"--devices {word}: there is no {what} {ranges(missing)} here, but {ranges(known)}. {_DO}")
    return wanted


def filter_gpus(gpus: Sequence[Gpu], grant: Grant, environment: Mapping[str, str] = os.environ) -> list[Gpu]:
    """Returns the GPUs that may be leased. Without `--devices`, `CUDA_VISIBLE_DEVICES` chooses:
    uuids, their beginnings, or numbers in the order of the bus; as for CUDA, what follows a name that is no device's does not count."""
    if grant.gpus is not None:
        return [gpu for gpu in gpus if gpu.uuid in grant.gpus]
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return list(gpus)
    named: list[Gpu] = []
    # Ends at the first name that is no device's, as CUDA itself does.
    for word in filter(None, map(str.strip, visible.split(","))):
        matching = [
            gpu for gpu in gpus if word == str(gpu.index) or (word.startswith("GPU-") and gpu.uuid.startswith(word))
        ]
        if len(matching) != 1:
            break
        named += matching
    return [gpu for gpu in gpus if gpu in named]
