"""What a score may depend on beside the program: the hardware class and the versions of the judge's libraries.

Invariant: equal lines mean that fitness values may be compared; no line holds a time, a load or a host name."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def hardware(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model and how many cores there are, as one line."""
    return f"{_model(information)}, {os.cpu_count() or 1} cores"


def usable_cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _model(information: Path) -> str:
    try:
        lines = information.read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def environment(packages: tuple[str, ...] = ("numpy",)) -> str:
    """The versions of Python and of `packages`, as one line; one that is not installed is left out."""
    found = [f"python {platform.python_version()}"]
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
