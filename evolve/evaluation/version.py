"""Version of a task: one hash of all that its scores depend on. The engine computes it when it loads a task, and every worker again when it starts.

Invariant: a score is stored under the version of the files that it was computed with."""

import hashlib
from collections.abc import Mapping
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
