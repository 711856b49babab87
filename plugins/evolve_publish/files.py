"""Files of an export: their names, their manifest, the folder that holds them, and the task among them.

An export comes from strangers. A path in it is plain: relative, of ASCII letters that every file system takes, below no hidden folder. Reading follows no link, opens no device, and takes no more than an
export may have. It happens once: the files that were checked are those that are used.

Of a task an export takes the files that the task's version is a hash of, its READMEs and its prompts; no compiled code and nothing hidden, for the version covers neither."""

import hashlib
import json
import math
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import evolve.task
from evolve.commands import atomic_write
from evolve.types import ConfigError, Scalar, Task, TaskError

MANIFEST = "MANIFEST.json"
SCHEMA = 1
"""Version of the layout."""
LARGEST = 64 << 20
"""Bytes of all files of an export."""
MOST = 2_000
"""Files of an export."""

Contents = Mapping[str, bytes]
"""All files of an export by their paths."""

_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9 ._+@=,-]{0,98}[A-Za-z0-9_+@=,-])?")


def is_plain(path: str) -> bool:
    """Returns whether an export may hold a file of this path."""
    return len(path) <= 250 and all(_PART.fullmatch(part) and part != "__pycache__" for part in path.split("/"))


def check_paths(paths: Iterable[str]) -> None:
    """Raises `ConfigError` for the first path that may not stand in an export."""
    for path in sorted(paths):
        if not is_plain(path):
            raise ConfigError(
                f"an export holds files with plain names below its folder (letters, digits, dots, dashes), got {path[:200]!r}. Try: rename it, "
                "or take no export from strangers that has such a file"
            )


def name_stored_files(folder: str, names: Iterable[str], suffix: str = "") -> dict[str, str]:
    """Returns where files of any name are stored below `folder`: under their own names where all are plain, else under hashes."""
    # A program chooses the names of its files; they must decide nothing outside of the program.
    given = sorted(names)
    plain = {name: f"{folder}/{name}{suffix}" for name in given}
    if all(map(is_plain, plain.values())):
        return plain
    return {name: f"{folder}/{hash_bytes(encode_text(name))[:20]}{suffix}" for name in given}


def hash_bytes(data: bytes) -> str:
    """Returns the SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def add_manifest(files: Contents) -> dict[str, bytes]:
    """Returns the files with their manifest, in the order of their paths; raises `ConfigError` where they are too many, too large or hostile."""
    check_paths(files)
    check_size(len(files), sum(map(len, files.values())))
    listed = {path: {"bytes": len(data), "sha256": hash_bytes(data)} for path, data in sorted(files.items())}
    manifest = json_bytes({"files": listed, "schema": SCHEMA})
    return dict(sorted({**files, MANIFEST: manifest}.items()))


def check_size(count: int, size: int) -> None:
    """Raises `ConfigError` where an export would be beyond what anyone should read."""
    if size > LARGEST or count > MOST:
        raise ConfigError(
            f"an export has at most {MOST:,} files and {LARGEST >> 20} MiB, got {count:,} files and {size / (1 << 20):,.1f} MiB. "
            "Try: keep data that no score depends on out of the task's folder"
        )


def check_files(contents: Contents) -> dict[str, str]:
    """Returns why each file that differs from the manifest, is missing, or is not in it is wrong, by its path. Raises `ConfigError` where there is no manifest that can be read."""
    listed = _read_manifest(contents)
    wrong = dict.fromkeys(contents.keys() - listed.keys() - {MANIFEST}, "is not in the manifest")
    for path, sha256 in listed.items():
        if path not in contents:
            wrong[path] = "is missing"
        elif hash_bytes(contents[path]) != sha256:
            wrong[path] = "was changed: its hash is not the one in the manifest"
    return dict(sorted(wrong.items()))


def _read_manifest(contents: Contents) -> dict[str, str]:
    files = read_object(contents, MANIFEST, SCHEMA).get("files")
    if not isinstance(files, dict):
        raise ConfigError(f"{MANIFEST} lists no files. Try: export the program again")
    return {str(path): str(entry.get("sha256")) if isinstance(entry, dict) else "" for path, entry in files.items()}


def read_object(contents: Contents, path: str, schema: int) -> dict[str, object]:
    """Returns the JSON object in a file that every export has; raises `ConfigError` where there is none of this schema."""
    if path not in contents:
        raise ConfigError(f"there is no {path}: this is no export. Try: name what `evolve program export` has written")
    value = parse_json(path, contents[path])
    found = value.get("schema") if isinstance(value, dict) else None
    if not isinstance(value, dict) or found != schema:
        raise ConfigError(
            f"{path} has schema {str(found)[:40]!r}, and this version of evolve reads {schema}. Try: verify it with the version that wrote it"
        )
    return value


def parse_json(path: str, data: bytes) -> object:
    """Returns the JSON in a file, in which no key stands twice; raises `ConfigError`."""
    try:
        text = decode_text(data)
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            parse_int=_parse_bounded,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {str(error)[:200]}. Try: export the program again") from error


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _parse_finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse_constant(text)


def _parse_bounded(text: str) -> int:
    if len(text) > 300:  # no float could hold it
        raise ValueError(f"a number has {len(text):,} digits")
    return int(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Two readers could read two values of a key that is there twice.
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def encode_text(text: str) -> bytes:
    """Returns a text as it is stored; a program may hold half of a surrogate pair."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    """Returns a stored text; raises `UnicodeDecodeError`."""
    return data.decode("utf-8", "surrogatepass")


def json_bytes(value: object) -> bytes:
    """Returns a value as JSON; equal values have equal bytes."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def write(contents: Contents, target: Path, *, force: bool = False) -> None:
    """Writes an export to a folder. Raises `ConfigError` where something is there already; with `force` an export is replaced, and nothing else ever is."""
    check_paths(contents)
    _check_target(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target, replace=force) as made:
            for path, data in contents.items():
                file = made / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
    except OSError as error:
        raise ConfigError(
            f"the export cannot be written to {target}: {error.strerror}. Try: name another place with -o"
        ) from error


def _check_target(target: Path, *, force: bool) -> None:
    if not (target.exists() or target.is_symlink()):
        return
    if not force:
        raise ConfigError(
            f"{str(target)!r} is there already. Try: name another place with -o, or replace it with --force"
        )
    if target.is_symlink() or not (target / MANIFEST).is_file():
        raise ConfigError(
            f"{str(target)!r} is no export, and nothing else is replaced. Try: name another place with -o"
        )


def read(place: Path) -> dict[str, bytes]:
    """Returns all files of an export; raises `ConfigError` for anything but a plain folder of plain files."""
    if not place.is_dir():
        raise ConfigError(
            f"there is no export {str(place)!r}. Try: name a folder that `evolve program export` has written"
        )
    found: dict[str, bytes] = {}
    size = 0
    try:
        for name in _walk(place):
            found[name] = _read_file(place / name, name, LARGEST - size)
            size += len(found[name])
            check_size(len(found), size)
    except OSError as error:
        raise ConfigError(
            f"the export {place} cannot be read: {error.strerror or error}. Try: check the path"
        ) from error
    return found


def _walk(place: Path) -> Iterator[str]:
    """Yields the paths of all files, and of links to folders, which are no files; raises `ConfigError` before it enters a folder of no plain name, which bounds the depth."""
    for folder, folders, files in os.walk(place, onerror=_raise):
        here = Path(folder).relative_to(place)
        paths = {name: (here / name).as_posix() for name in (*folders, *files)}
        check_paths(paths.values())
        yield from (paths[name] for name in files)
        yield from (paths[name] for name in folders if Path(folder, name).is_symlink())


def _raise(error: OSError) -> NoReturn:
    raise error


def _read_file(file: Path, name: str, room: int) -> bytes:
    """Returns the bytes of a plain file; a link, a device or a pipe is refused before anything of it is read."""
    refusal = f"{name[:200]!r} is no plain file. Try: take an export as it was written, without links"
    try:
        # Without O_NONBLOCK a pipe among the files would keep the reader waiting for ever.
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(refusal) from error
    with os.fdopen(number, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(refusal)
        check_size(1, status.st_size + LARGEST - room)
        # One byte more than there is room for: a file that grows meanwhile is seen, and refused by its size.
        return opened.read(max(room, 0) + 1)


TASK_FOLDER = "task"
"""Folder of all files of the task."""


def place_of_task(task: Task) -> tuple[str, str]:
    """Returns the folder of the task in an export, and the path that names the task there."""
    name = Path(task.folder).name
    folder = f"{TASK_FOLDER}/{name if is_plain(name) else 'task'}"
    own = task.one_file or task.task_file
    return folder, f"{folder}/{own}" if own else folder


def folder_name(task: str) -> str:
    """Returns a task's name as a folder's name: a further task of a folder has a name with a slash."""
    name = task.replace("/", ".")
    return name if is_plain(name) else f"task-{hash_bytes(encode_text(task))[:12]}"


def task_files(task: Task) -> dict[str, bytes]:
    """Returns every file of a task as it lies in its folder now, by its path in an export; raises `ConfigError` for one that cannot travel."""
    folder, (place, _) = Path(task.folder), place_of_task(task)
    found: dict[str, bytes] = {}
    size = 0
    for path in _paths(task):
        name = f"{place}/{path.relative_to(folder).as_posix()}"
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"{path} leads out of the task's folder, and would not be what it is elsewhere. Try: copy the file into the folder"
            )
        size += path.stat().st_size
        check_size(len(found) + 1, size)
        found[name] = path.read_bytes()
    check_paths(found)
    return found


def _paths(task: Task) -> list[Path]:
    folder = Path(task.folder)
    found = set(evolve.task.deciding(folder, task.one_file, task.prompts_folder))
    if task.one_file:
        return sorted(found)
    if task.prompts_folder:
        found |= set((folder / task.prompts_folder).glob("*.md"))
    return sorted(found | {folder / name for name in evolve.task.READMES if (folder / name).is_file()})


@contextmanager
def load_exported_task(contents: Contents, path: str, parameters: Mapping[str, Scalar]) -> Iterator[Task]:
    """Yields the task at `path` of an export, loaded from a fresh folder that holds nothing else. Nothing of it is run. Raises `TaskError`, `ConfigError`."""
    # A folder of its own: a task loads files beside its own, and nothing else of an export may be one of them.
    with tempfile.TemporaryDirectory(prefix="evolve-task-") as fresh:
        for name, data in contents.items():
            if name.startswith(f"{TASK_FOLDER}/"):
                file = Path(fresh, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        place = Path(fresh, path)
        if not (is_plain(path) and path.startswith(f"{TASK_FOLDER}/") and place.exists()):
            raise ConfigError(f"the export has no task {path[:200]!r}. Try: export the program again")
        try:
            task = evolve.task.load(place, parameters)
        except TaskError as error:
            raise TaskError(str(error).replace(f"{fresh}/", "")) from error
        yield task
