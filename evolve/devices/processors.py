"""The cores of this machine: which hardware threads share one, and in what state they are.

Invariant: each usable thread belongs to exactly one unit, and a unit is what one lease has whole: the threads of one physical core, as far as /sys tells."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

SYSTEM = Path("/sys/devices/system/cpu")
_LOAD = Path("/proc/loadavg")

Unit = tuple[int, ...]


def usable() -> tuple[int, ...]:
    """Returns the numbers of the hardware threads that this process may run on, in their order."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def units(threads: Collection[int], system: Path = SYSTEM) -> dict[int, Unit]:
    """The usable threads of each core, by the number of the core's first thread, usable or not, so that everybody names it alike; where /sys says nothing of a thread, it is
    a core of its own."""
    found: dict[int, list[int]] = {}
    for thread in sorted(threads):
        siblings = numbers(_read(system / f"cpu{thread}" / "topology" / "thread_siblings_list"))
        found.setdefault(min(siblings, default=thread), []).append(thread)
    return {core: tuple(unit) for core, unit in sorted(found.items())}


def choose_threads(taken: Sequence[Unit], count: int) -> tuple[int, ...]:
    """Returns the `count` threads to run on: one of each core before a second one of any."""
    firsts = [unit[0] for unit in taken]
    rest = [thread for unit in taken for thread in unit[1:]]
    return tuple(sorted([*firsts, *rest][:count]))


def governor(threads: Collection[int], system: Path = SYSTEM) -> str:
    """Returns the frequency governor of these threads, such as `performance`; several are joined, and it is empty where the system does not tell."""
    told = {_read(system / f"cpu{thread}" / "cpufreq" / "scaling_governor").strip() for thread in threads}
    return "+".join(sorted(told - {""}))


def load(file: Path = _LOAD) -> str:
    """Returns the load average of the last minute as text; empty where the system does not tell."""
    return _read(file).partition(" ")[0]


def numbers(text: str) -> list[int]:
    """`0-3,8` as numbers; raises `ValueError` for another text that is not empty."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise ValueError(f"numbers are written like 0-3,8, got {text!r}")
        found += range(int(first), int(last if dash else first) + 1)
    return found


def ranges(threads: Collection[int]) -> str:
    """Numbers as `0-3,8`."""
    parts: list[list[int]] = []
    for thread in sorted(threads):
        if parts and parts[-1][-1] == thread - 1:
            parts[-1].append(thread)
        else:
            parts.append([thread])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", "replace")
    except OSError:
        return ""
