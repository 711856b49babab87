"""What an export holds: files by their paths, all of them named with their hashes in one of them, the manifest.

Invariant: a path in an export is plain: relative, of ASCII letters that every file system takes, below no hidden folder; no two of them are one on a disk that
does not tell capital letters. Whoever reads or writes an export asks here."""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

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
class Difference:
    """A file that is not what the manifest says."""

    path: str
    why: str


def is_plain(path: str) -> bool:
    """Whether a path may stand in an export."""
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


def stored_names(folder: str, names: Iterable[str], suffix: str = "") -> dict[str, str]:
    """Where files of any name are stored below `folder`: under their own name where that is plain, else under the hash of it. What a program
    calls its files decides nothing outside of the program."""
    given = sorted(names)
    plain = {name: f"{folder}/{name}{suffix}" for name in given}
    try:
        check_paths(plain.values())
    except ConfigError:
        return {
            name: f"{folder}/{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}{suffix}"
            for name in given
        }
    return plain


def hashed(data: bytes) -> str:
    """64 hexadecimal digits: the SHA-256."""
    return hashlib.sha256(data).hexdigest()


def with_manifest(files: Contents) -> dict[str, bytes]:
    """The files with their manifest, in the order of their paths; raises `ConfigError` where they are too many, too large or hostile."""
    check_paths([*files, MANIFEST])
    check_size(len(files), sum(map(len, files.values())))
    listed = {path: {"bytes": len(data), "sha256": hashed(data)} for path, data in sorted(files.items())}
    manifest = json_bytes({"files": listed, "schema": SCHEMA})
    return dict(sorted({**files, MANIFEST: manifest}.items()))


def check_size(count: int, size: int) -> None:
    """Raises `ConfigError` where an export would be beyond what anyone should read."""
    if size > LARGEST or count > MOST:
        raise ConfigError(
            f"an export has at most {MOST:,} files and {LARGEST >> 20} MiB, got {count:,} files and {size / (1 << 20):,.1f} MiB. "
            "Do: keep data that no score depends on out of the task's folder"
        )


def check_files(contents: Contents) -> tuple[Difference, ...]:
    """Every file that differs from what the manifest says, is missing, or is not in it; nothing where all is as it was. Raises `ConfigError`
    where there is no manifest that can be read."""
    listed = _listed(contents)
    found = [Difference(path, "is not in the manifest") for path in contents if path not in listed and path != MANIFEST]
    for path, sha256 in listed.items():
        if path not in contents:
            found.append(Difference(path, "is missing"))
        elif hashed(contents[path]) != sha256:
            found.append(Difference(path, "was changed: its hash is not the one in the manifest"))
    return tuple(sorted(found, key=lambda one: one.path))


def _listed(contents: Contents) -> dict[str, str]:
    if MANIFEST not in contents:
        raise ConfigError(
            f"there is no {MANIFEST}: this is no export. Do: name what `evolve program export` has written"
        )
    value = parsed(MANIFEST, contents[MANIFEST])
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        shown = value.get("schema") if isinstance(value, dict) else value
        raise ConfigError(
            f"{MANIFEST} has schema {str(shown)[:40]!r}, and this version of evolve reads {SCHEMA}. Do: verify it with the version that wrote it"
        )
    files = value.get("files")
    if not isinstance(files, dict):
        raise ConfigError(f"{MANIFEST} lists no files. Do: export the program again")
    return {str(path): str(entry.get("sha256")) if isinstance(entry, dict) else "" for path, entry in files.items()}


def parsed(path: str, data: bytes) -> object:
    """The JSON that a file holds, which says nothing twice; raises `ConfigError`."""
    try:
        text = data.decode("utf-8", "surrogatepass")
        return json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {str(error)[:200]}. Do: export the program again") from error


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A key that is there twice could be read in two ways."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def json_bytes(value: object) -> bytes:
    """A value as JSON for persons and programs: equal values have equal bytes."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")
