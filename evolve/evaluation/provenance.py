"""Facts on which a score depends beside the program: the task's files as one version, the worker's libraries, and the hardware.

Fitness values may be compared where these are equal: no version and no line holds a time, a load or a host name. A score is stored under the version of
the files that it was computed with; the engine computes that when it loads a task, and every worker again when it starts."""

import ast
import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path

from evolve.types import Scalar, Task, TaskError, canonical, digest

READMES = ("README", "README.md", "README.rst", "README.txt")


def check_version(task: Task) -> None:
    """Raises `TaskError` when the task's folder, or its one file, is no longer what the task was loaded from."""
    folder = Path(task.folder)
    now = task_version(folder, task.parameters, task.one_file, task.prompts_folder, task.task_file)
    if now != task.version:
        what = "file" if task.one_file else "folder"
        raise TaskError(
            f"the {what} of task {task.name!r} has changed since the campaign began: {task.path}. Try: put it back as it was, or evaluate "
            "the campaign's programs again by the new version, evolve campaign rejudge"
        )


def task_version(
    folder: Path, parameters: Mapping[str, Scalar], one_file: str = "", prompts: str = "", task_file: str = ""
) -> str:
    """64 hexadecimal digits over every file of a task's folder that decides a score, or over `one_file` alone, and its parameters. `prompts` is
    the folder with the templates of its prompts, `task_file` the name of a further task file. All tasks of a folder share its files: nobody can
    tell here which of them a task reads, so a change of one file is another version of each."""
    files = {str(path.relative_to(folder).as_posix()): _digest(path) for path in deciding(folder, one_file, prompts)}
    own = {"task_file": task_file} if task_file else {}
    return digest(canonical({"files": files, "parameters": dict(parameters), **own}))


def deciding(folder: Path, one_file: str = "", prompts: str = "") -> list[Path]:
    """The files of a task that decide a score, in a fixed order."""
    if one_file:
        return [path for path in (folder / one_file,) if path.is_file()]
    # Templates of prompts change what models are told, and no score.
    told = set((folder / prompts).glob("*.md")) if prompts else set()
    return [path for path in sorted(folder.rglob("*")) if _decides(path, folder) and path not in told]


def _decides(path: Path, folder: Path) -> bool:
    """Returns whether a file may decide a score: no README, nothing hidden, no cache of compiled code, and nothing of a workspace
    in the task's own folder: neither logs of campaigns nor its cache nor its secret."""
    parts = path.relative_to(folder).parts
    if parts[:2] == ("archive", "campaigns") or (
        parts[0] == "archive" and path.name.startswith(("cache.db", "secret"))
    ):
        return False
    ignored = any(part.startswith(".") or part == "__pycache__" for part in parts) or path.name in READMES
    return path.is_file() and not ignored


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_ALWAYS = ("numpy", "highspy")
"""What many tasks compute with, also where it is imported for them."""


def hardware(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model and how many cores there are, as one line."""
    return f"{processor(information)}, {os.cpu_count() or 1} cores"


def processor(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's model, else its kind."""
    try:
        lines = information.read_text().splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


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
    # What runs counts and not what is installed, which an upgrade may have changed since.
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
