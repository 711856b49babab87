"""An export as a folder or as a zip file: written whole or not at all, and read as what it is, data from strangers.

Invariant: reading follows no link, opens no device, unpacks nothing to a disk and takes no more than an export may have; all that is known of an export afterwards
is what was read once, so that nobody changes it between the check and the use."""

import lzma
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from evolve.atomic_write import atomic_write
from evolve.publish.contents import LARGEST, MANIFEST, Contents, check_paths, check_size
from evolve.types import ConfigError

ZIP = ".zip"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry: the earliest that the format has."""
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
        with atomic_write(target, replace=force) as made:
            if target.suffix == ZIP:
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
    """Whether what is there is an export, or an empty folder; not any other folder or zip file of somebody's."""
    if target.is_symlink() or target.is_dir() is (target.suffix == ZIP):
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
    """Stored as it is, for what packs it differs from one machine to the next."""
    with zipfile.ZipFile(made, "x", zipfile.ZIP_STORED) as archive:
        for path, data in sorted(contents.items()):
            entry = zipfile.ZipInfo(f"{top}/{path}", _EPOCH)
            entry.create_system, entry.external_attr = 3, _REGULAR
            archive.writestr(entry, data)


def read(place: Path) -> dict[str, bytes]:
    """All files of an export; raises `ConfigError` for what is none, or is more than a plain folder of plain files."""
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
    """Everything below a folder but its folders, in a fixed order; links are never followed."""
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
    """What a plain file holds; a link, a device or a pipe is refused before anything of it is read."""
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
    """An entry's bytes, and no more than it says that there are."""
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
    """Without the one folder that all entries lie in."""
    tops = {path.partition("/")[0] for path in found}
    if MANIFEST in found or len(tops) != 1:
        return found
    return {path.partition("/")[2]: data for path, data in found.items()}
