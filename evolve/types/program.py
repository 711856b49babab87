"""Programs and texts, immutable and named by the hash of what they hold, and the other names that values refer to each other by."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NewType

__all__ = [
    "Program",
    "ProgramId",
    "RecordId",
    "Scalar",
    "TextId",
    "canonical",
    "digest",
    "text_id",
]

ProgramId = NewType("ProgramId", str)
"""64 hexadecimal digits: the SHA-256 of a program's files."""
TextId = NewType("TextId", str)
"""64 hexadecimal digits: the SHA-256 of a text in UTF-8."""
RecordId = int
"""Number of a settled record of a campaign, from 1."""
Scalar = bool | int | float | str
"""Value of a task's parameter."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: object) -> str:
    """Returns `value` as JSON with sorted keys and no spaces: equal values have equal texts. NaN and infinity are refused."""
    return _ENCODER.encode(value)


def digest(text: str) -> str:
    """Returns the SHA-256 of `text` in UTF-8, as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def text_id(text: str) -> TextId:
    """Returns the name of a text in the log."""
    return TextId(digest(text))


@dataclass(frozen=True, slots=True)
class Program:
    """Immutable text files by relative path; two programs with equal files are the same program."""

    files: Mapping[str, str]
    id: ProgramId = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Sorted, so that the order in which files were given does not make another program.
        files = dict(sorted(self.files.items()))
        object.__setattr__(self, "files", MappingProxyType(files))
        object.__setattr__(self, "id", ProgramId(digest(canonical(files))))

    def __hash__(self) -> int:
        return hash(self.id)
