"""Facts on which a score may depend beside the program: the hardware class and the versions of the worker's libraries.

Invariant: equal lines mean that fitness values may be compared; no line holds a time, a load or a host name."""

import ast
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

from evolve.devices.processors import usable

_ALWAYS = ("numpy", "highspy")
"""What many tasks compute with, also where it is imported for them."""


def hardware(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model and how many cores there are, as one line."""
    return f"{processor(information)}, {os.cpu_count() or 1} cores"


def usable_cores() -> int:
    """The processor cores that this process may use."""
    return len(usable())


def processor(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model, else its kind."""
    try:
        lines = information.read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def environment(modules: Iterable[str] = ()) -> str:
    """The versions of this Python, of numpy and highspy, and of what brings `modules`, as one line; what is not installed is left
    out."""
    found = {name: number for name in (*_ALWAYS, *sorted(set(modules))) if (number := _version(name))}
    return ", ".join([f"python {platform.python_version()}", *(f"{name} {number}" for name, number in found.items())])


def imports(folder: Path, files: Iterable[Path]) -> frozenset[str]:
    """The modules of others that the Python files among `files`, all below `folder`, import, anywhere in them: neither the standard
    library's, nor their own, nor the engine's."""
    # By reading and not by importing: what an evaluator imports late, or in one case only, counts as well.
    python = [path for path in files if path.suffix == ".py"]
    own = {part.removesuffix(".py") for path in python for part in path.relative_to(folder).parts}
    named = {name.partition(".")[0] for path in python for name in _find_imports(path)}
    return frozenset(named - own - set(sys.stdlib_module_names) - {"evolve"})


def _find_imports(path: Path) -> Iterator[str]:
    try:
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):  # it is told elsewhere, if it matters
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def _version(module: str) -> str:
    """Returns the version of the module that is loaded, else of the package that has its name or brings it; empty where there is none."""
    loaded = getattr(sys.modules.get(module), "__version__", "")
    if loaded and isinstance(loaded, str):
        return loaded
    if find_spec(module) is None:
        return ""
    return _package_version(module) or next(
        filter(None, map(_package_version, packages_distributions().get(module, ()))), ""
    )


def _package_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
