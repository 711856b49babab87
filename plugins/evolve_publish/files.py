"""Files of an export: their names, their manifest, and the folder or zip file that holds them.

An export comes from strangers. A path in it is plain: relative, of ASCII letters that every file system takes, below no hidden folder; no two paths are one on a disk that does not tell capital letters. Reading
follows no link, opens no device, unpacks nothing to a disk and takes no more than an export may have. It happens once: the files that were checked are those that are used."""

import hashlib
import json
import lzma
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from evolve.commands import write_atomically
from evolve.types import ConfigError

MANIFEST = "MANIFEST.json"
SCHEMA = 1
"""The version of the layout."""
LARGEST = 64 << 20
"""Bytes of all files of an export."""
MOST = 2_000
"""Files of an export."""

Contents = Mapping[str, bytes]
"""All files of an export by their paths."""

_PART = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9 ._+@=,-]{0,98}[A-Za-z0-9_+@=,-])?")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(10))}
)
"""Names that one system keeps for its devices, whatever their suffix."""


@dataclass(frozen=True, slots=True)
class FileDifference:
    """File that differs from the manifest."""

    path: str
    why: str


def is_plain(path: str) -> bool:
    """Returns whether an export may hold a file of this path."""
    return len(path) <= 250 and all(map(_is_plain_part, path.split("/")))


def _is_plain_part(part: str) -> bool:
    return bool(_PART.fullmatch(part)) and part.partition(".")[0].lower() not in _DEVICES and part != "__pycache__"


def check_paths(paths: Iterable[str]) -> None:
    """Raises `ConfigError` for the first path that may not stand in an export, or that hides another one."""
    seen: dict[str, str] = {}
    for path in sorted(paths):
        if not is_plain(path):
            raise ConfigError(
                f"an export holds files with plain names below its folder (letters, digits, dots, dashes), got {path[:200]!r}. Do: rename it, "
                "or take no export from strangers that has such a file"
            )
        for length in range(1, path.count("/") + 2):
            start = "/".join(path.split("/")[:length])
            other = seen.setdefault(start.casefold(), start)
            if other != start:
                raise ConfigError(
                    f"{start!r} and {other!r} are one file on disks that do not tell capital letters. Do: rename one"
                )
    taken = set(paths)
    for path in sorted(taken):
        above = path.rpartition("/")[0]
        if above in taken:
            raise ConfigError(f"{above!r} is both a file and a folder. Do: rename one")


def name_stored_files(folder: str, names: Iterable[str], suffix: str = "") -> dict[str, str]:
    """Returns where files of any name are stored below `folder`: under their own names where all are plain, else under hashes. A program's names for its files decide nothing outside of the program."""
    given = sorted(names)
    plain = {name: f"{folder}/{name}{suffix}" for name in given}
    try:
        check_paths(plain.values())
    except ConfigError:
        return {name: f"{folder}/{hash_bytes(encode_text(name))[:20]}{suffix}" for name in given}
    return plain


def hash_bytes(data: bytes) -> str:
    """Returns the SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def add_manifest(files: Contents) -> dict[str, bytes]:
    """Returns the files with their manifest, in the order of their paths; raises `ConfigError` where they are too many, too large or hostile."""
    check_paths([*files, MANIFEST])
    check_size(len(files), sum(map(len, files.values())))
    listed = {path: {"bytes": len(data), "sha256": hash_bytes(data)} for path, data in sorted(files.items())}
    manifest = json_bytes({"files": listed, "schema": SCHEMA})
    return dict(sorted({**files, MANIFEST: manifest}.items()))


def check_size(count: int, size: int) -> None:
    """Raises `ConfigError` where an export would be beyond what anyone should read."""
    if size > LARGEST or count > MOST:
        raise ConfigError(
            f"an export has at most {MOST:,} files and {LARGEST >> 20} MiB, got {count:,} files and {size / (1 << 20):,.1f} MiB. "
            "Do: keep data that no score depends on out of the task's folder"
        )


def check_files(contents: Contents) -> tuple[FileDifference, ...]:
    """Returns every file that differs from the manifest, is missing, or is not in it. Raises `ConfigError` where there is no manifest that can be read."""
    listed = _read_manifest(contents)
    found = [
        FileDifference(path, "is not in the manifest") for path in contents if path not in listed and path != MANIFEST
    ]
    for path, sha256 in listed.items():
        if path not in contents:
            found.append(FileDifference(path, "is missing"))
        elif hash_bytes(contents[path]) != sha256:
            found.append(FileDifference(path, "was changed: its hash is not the one in the manifest"))
    return tuple(sorted(found, key=lambda one: one.path))


def _read_manifest(contents: Contents) -> dict[str, str]:
    if MANIFEST not in contents:
        raise ConfigError(
            f"there is no {MANIFEST}: this is no export. Do: name what `evolve program export` has written"
        )
    value = parse_json(MANIFEST, contents[MANIFEST])
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        shown = value.get("schema") if isinstance(value, dict) else value
        raise ConfigError(
            f"{MANIFEST} has schema {str(shown)[:40]!r}, and this version of evolve reads {SCHEMA}. Do: verify it with the version that wrote it"
        )
    files = value.get("files")
    if not isinstance(files, dict):
        raise ConfigError(f"{MANIFEST} lists no files. Do: export the program again")
    return {str(path): str(entry.get("sha256")) if isinstance(entry, dict) else "" for path, entry in files.items()}


def parse_json(path: str, data: bytes) -> object:
    """Returns the JSON in a file, in which no key stands twice; raises `ConfigError`."""
    try:
        text = decode_text(data)
        return json.loads(text, parse_constant=_refuse_constant, parse_float=_parse_finite, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {str(error)[:200]}. Do: export the program again") from error


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _parse_finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse_constant(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Raises `ValueError` for a key that is there twice: two readers could read two values."""
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


_ZIP = ".zip"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Time of every entry: the earliest that the format has."""
_DEEPEST = 100
_AROUND = 1 << 20
"""Bytes that a zip file may have beside the files in it."""
_BAD_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_REGULAR = (stat.S_IFREG | 0o644) << 16


def write(contents: Contents, target: Path, *, top: str, force: bool = False) -> None:
    """Writes an export to a folder, or to a file that ends in `.zip`, whose entries then lie in the folder `top`. Raises `ConfigError` where something is there already;
    with `force` an export, or an empty folder, is replaced, and nothing else ever is."""
    check_paths(contents)
    _check_target(target, force=force)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(target, replace=force) as made:
            if target.suffix == _ZIP:
                _write_zip(contents, made, top)
            else:
                _write_folder(contents, made)
    except OSError as error:
        raise ConfigError(
            f"the export cannot be written to {target}: {error.strerror}. Do: name another place with -o"
        ) from error


def _check_target(target: Path, *, force: bool) -> None:
    if not (target.exists() or target.is_symlink()):
        return
    if not force:
        raise ConfigError(
            f"{str(target)!r} is there already. Do: name another place with -o, or replace it with --force"
        )
    if not _is_replaceable(target):
        raise ConfigError(f"{str(target)!r} is no export, and nothing else is replaced. Do: name another place with -o")


def _is_replaceable(target: Path) -> bool:
    """Returns whether a place holds an export or an empty folder, and nothing of anybody's."""
    if target.is_symlink() or target.is_dir() is (target.suffix == _ZIP):
        return False
    if target.is_dir() and not any(target.iterdir()):
        return True
    try:
        return MANIFEST in read(target)
    except ConfigError:
        return False


def _write_folder(contents: Contents, made: Path) -> None:
    for path, data in contents.items():
        file = made / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _write_zip(contents: Contents, made: Path, top: str) -> None:
    """Writes entries without compression, whose result differs between machines."""
    with zipfile.ZipFile(made, "x", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(contents.items()):
            entry = zipfile.ZipInfo(f"{top}/{path}", _EPOCH)
            entry.create_system, entry.external_attr = 3, _REGULAR
            archive.writestr(entry, data)


def read(place: Path) -> dict[str, bytes]:
    """Returns all files of an export; raises `ConfigError` for anything but a plain folder of plain files, or a zip file of them."""
    try:
        if place.is_dir():
            contents = _read_folder(place)
        elif place.is_file():
            contents = _read_zip(place)
        else:
            raise ConfigError(
                f"there is no export {str(place)!r}. Do: name a folder or a zip file that `evolve program export` has written"
            )
    except OSError as error:
        raise ConfigError(
            f"the export {place} cannot be read: {error.strerror or error}. Do: check the path"
        ) from error
    check_paths(contents)
    return contents


def _read_folder(place: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    size = 0
    for file in _files(place):
        name = file.relative_to(place).as_posix()
        data = _data(file, name, LARGEST - size)
        size += len(data)
        found[name] = data
        check_size(len(found), size)
    return found


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Yields all files below a folder in a fixed order; links are never followed."""
    if depth > _DEEPEST:
        raise ConfigError(f"the folder has others within others, {_DEEPEST} deep. Do: take an export as it was written")
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), depth + 1)
        else:
            yield Path(entry.path)


def _data(file: Path, name: str, room: int) -> bytes:
    """Returns the bytes of a plain file; a link, a device or a pipe is refused before anything of it is read."""
    try:
        number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            f"{name[:200]!r} is no plain file: {error.strerror}. Do: take an export as it was written, without links"
        ) from error
    with os.fdopen(number, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ConfigError(f"{name[:200]!r} is no plain file. Do: take an export as it was written, without links")
        check_size(1, status.st_size + LARGEST - room)
        return opened.read(max(room, 0) + 1)


def _read_zip(place: Path) -> dict[str, bytes]:
    check_size(1, place.stat().st_size - _AROUND)
    try:
        with zipfile.ZipFile(place) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            check_size(len(entries), sum(entry.file_size for entry in entries))
            found: dict[str, bytes] = {}
            for entry in entries:
                if entry.filename in found:
                    raise ConfigError(f"the zip file has {entry.filename[:200]!r} twice. Do: export the program again")
                found[entry.filename] = _entry(archive, entry)
    except _BAD_ZIP as error:
        raise ConfigError(
            f"{place} is no zip file that can be read: {str(error)[:200]}. Do: name a folder or a zip file that `evolve program export` has written"
        ) from error
    return _without_top(found)


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Returns an entry's bytes; raises `ConfigError` for more than it declares."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ConfigError(
            f"{entry.filename[:200]!r} is no plain file. Do: take an export as it was written, without links"
        )
    with archive.open(entry) as opened:
        data = opened.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise ConfigError(f"{entry.filename[:200]!r} is larger than the zip file says. Do: export the program again")
    return data


def _without_top(found: dict[str, bytes]) -> dict[str, bytes]:
    """Returns the files without the one folder that holds all entries."""
    tops = {path.partition("/")[0] for path in found}
    if MANIFEST in found or len(tops) != 1:
        return found
    return {path.partition("/")[2]: data for path, data in found.items()}
