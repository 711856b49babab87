"""Devices that may be leased: those of `--devices`, or of `CUDA_VISIBLE_DEVICES` where that option is not given.

Invariant: what a word names is there; one that names nothing is an error with what there is."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evolve.devices.gpus import Gpu
from evolve.devices.processors import numbers, ranges
from evolve.types import ConfigError

_MORE = re.compile(r"\d+(-\d+)?")
_DO = "Do: write cpu, cpu:0-3, gpu, gpu:0,1 or a GPU's uuid; `evolve devices` lists what there is"


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
    """Parses words such as `cpu`, `cpu:0-3`, `gpu`, `gpu:0,1` and a uuid, each by itself or several joined by commas; raises `ConfigError`.
    Words about cores alone grant no GPU, and words about GPUs alone all cores; no words grant everything."""
    if not words:
        return EVERYTHING
    chosen_cores: set[int] = set()
    chosen_gpus: list[str] = []
    for kind, which in _split_words(words):
        if kind == "cpu":
            chosen_cores |= _parse_cores(which, cores)
        else:
            chosen_gpus += [gpu.uuid for gpu in _find_named_gpus(kind, which, gpus)]
    return Grant(tuple(sorted(chosen_cores)) or None, tuple(dict.fromkeys(chosen_gpus)))


def filter_gpus(gpus: Sequence[Gpu], grant: Grant, environment: Mapping[str, str] = os.environ) -> list[Gpu]:
    """Returns the GPUs that may be leased. Without `--devices`, `CUDA_VISIBLE_DEVICES` chooses:
    uuids, their beginnings, or numbers in the order of the bus; as for CUDA, what follows a name that is no device's does not count."""
    if grant.gpus is not None:
        return [gpu for gpu in gpus if gpu.uuid in grant.gpus]
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return list(gpus)
    named: list[Gpu] = []
    for word in filter(None, map(str.strip, visible.split(","))):
        matching = [
            gpu for gpu in gpus if word == str(gpu.index) or (word.startswith("GPU-") and gpu.uuid.startswith(word))
        ]
        if len(matching) != 1:
            break
        named += matching
    return [gpu for gpu in gpus if gpu in named]


def _split_words(words: Sequence[str]) -> list[tuple[str, str]]:
    """Returns pairs of a kind (`cpu`, `gpu`, or a uuid) and numbers (empty: all)."""
    found: list[tuple[str, str]] = []
    for word in words:
        for part in filter(None, map(str.strip, word.split(","))):
            if _MORE.fullmatch(part) and found and found[-1][1]:
                found[-1] = (found[-1][0], f"{found[-1][1]},{part}")
                continue
            kind, colon, which = part.partition(":")
            if colon and not which:
                raise ConfigError(f"--devices {word!r}: there is nothing behind the colon of {part!r}. {_DO}")
            found.append((kind, which))
    if not found:
        raise ConfigError(f"--devices names nothing, got {' '.join(words)!r}. {_DO}")
    return found


def _parse_cores(which: str, cores: Collection[int]) -> set[int]:
    try:
        wanted = set(numbers(which)) if which else set(cores)
    except ValueError as error:
        raise ConfigError(f"--devices cpu:{which}: {error}. {_DO}") from None
    missing = wanted - set(cores)
    if missing:
        raise ConfigError(
            f"--devices cpu:{which}: there is no core {ranges(missing)} that may be used here, which are {ranges(cores)}. {_DO}"
        )
    return wanted


def _find_named_gpus(kind: str, which: str, gpus: Sequence[Gpu]) -> Sequence[Gpu]:
    if kind != "gpu":
        found = [gpu for gpu in gpus if not which and gpu.uuid == kind]
        if not found:
            raise ConfigError(f"--devices {kind}{which and ':'}{which}: there is no such device. {_DO}")
        return found
    if not gpus:
        raise ConfigError(f"--devices gpu: no GPU was found on this machine. {_DO}")
    try:
        wanted = numbers(which) if which else [gpu.index for gpu in gpus]
    except ValueError as error:
        raise ConfigError(f"--devices gpu:{which}: {error}. {_DO}") from None
    known = {gpu.index: gpu for gpu in reversed(gpus)}
    missing = [number for number in wanted if number not in known]
    if missing:
        raise ConfigError(f"--devices gpu:{which}: there is no GPU {ranges(missing)} here, but {ranges(known)}. {_DO}")
    return [known[number] for number in wanted]
