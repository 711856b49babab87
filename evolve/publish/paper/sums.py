"""`SHA256SUMS`, which `sha256sum -c` reads.

Invariant: every file of the folder but the list itself stands in it once, in a fixed order."""

import hashlib
from pathlib import Path

SUMS = "SHA256SUMS"


def sums(folder: Path) -> str:
    """The list of a folder's files."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / SUMS)
    return "".join(_line(path.relative_to(folder).as_posix(), path.read_bytes()) for path in files)


def _line(name: str, data: bytes) -> str:
    """A name with a line break or a backslash is escaped, which a backslash before the sum says."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "\\" if escaped != name else ""
    return f"{mark}{hashlib.sha256(data).hexdigest()}  {escaped}\n"
