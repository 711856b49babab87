"""Recording as a model: it answers a question as it was answered before.

The file has a head, then one line of JSON per answer; of two answers to one question the first one holds. A replay costs nothing, and
reports the usage that was recorded."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

import evolve
from evolve.atomic_write import atomic_write
from evolve.models.faults import shorten
from evolve.types import ModelError, ModelGone, Prompt, Reply, Usage
from evolve.types.codec import decoder, encode
from evolve.types.prompt import Finish

VERSION = 1
_HOW_TO_WRITE = "`evolve model calls NAME --cassette FILE` writes one"


class CassetteSettings(BaseModel):
    """Settings of the kind `cassette`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="the file with the answers", examples=["answers.jsonl"])


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """Answer to `request`, by its sample; where `error` says why the call failed, there is no reply."""

    request: str
    sample: int
    reply: str = ""
    thinking: str = ""
    finish: Finish = ""
    usage: Usage = field(default_factory=Usage)
    revision: str = ""
    error: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """Request and sample, under which the answer is found."""
        return self.request, self.sample


Recording = Mapping[tuple[str, int], RecordedAnswer]
"""Answers of a cassette by their keys."""


def read_recording(path: Path) -> Recording:
    """Reads a cassette; a last line without its end is left out. Raises `OSError`, and `ModelGone` for another kind of file."""
    answers: dict[tuple[str, int], RecordedAnswer] = {}
    # The last part has no line end: it is empty, or what a writer that was killed left behind.
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1]):
        try:
            values = json.loads(line.decode("utf-8", "surrogatepass"))
            if number:
                answer = _read_answer(values)
                answers.setdefault(answer.key, answer)
            elif not isinstance(values, dict) or values.get("cassette") != VERSION:
                raise ValueError(f'the first line is {{"cassette": {VERSION}, ...}}')
        except ValueError as error:
            raise ModelGone(
                f"{path}, line {number + 1}: this is no line of a cassette: {error}. Try: mend or remove it, or name another file"
            ) from error
    return answers


def add_answers(path: Path, answers: Iterable[RecordedAnswer]) -> int:
    """Adds the answers that a cassette has not got, and returns how many; the file is there whole or as before. Raises as `read_recording`."""
    known = read_recording(path) if path.exists() else {}
    new: dict[tuple[str, int], RecordedAnswer] = {}
    for answer in answers:
        if answer.key not in known:
            new.setdefault(answer.key, answer)
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    lines = [] if whole else [_format_line({"cassette": VERSION, "evolve": evolve.__version__})]
    lines += [_format_line(encode(answer)) for answer in new.values()]
    # Written anew and renamed: a cassette that is being played must not change under its reader.
    with atomic_write(path, replace=True) as file:
        file.write_bytes((whole and whole + b"\n") + b"".join(lines))
    return len(new)


_read_answer = decoder(RecordedAnswer)


def _format_line(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "surrogatepass")


class Cassette:
    """Implements `Model`. The file is read once."""

    def __init__(self, path: Path) -> None:
        self._path = path.expanduser().absolute()

    @cached_property
    def _recording(self) -> Recording:
        try:
            return read_recording(self._path)
        except OSError as error:
            raise ModelGone(
                f"the cassette {str(self._path)!r} cannot be used: {error.strerror}. Try: check the path; {_HOW_TO_WRITE}"
            ) from error

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Checks that the file can be read, and has an answer; raises `ModelGone`."""
        if not self._recording:
            raise ModelGone(f"the cassette {str(self._path)!r} has no answer in it. Try: {_HOW_TO_WRITE}")
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Returns the recorded answers from the first sample on, as many as there are in a row."""
        keys = [(prompt.request, sample) for sample in samples]
        found = [self._recording[key] for key in takewhile(self._recording.__contains__, keys)]
        if not found:
            raise ModelError(
                f"the cassette {str(self._path)!r} has no answer {samples[0]} to request {prompt.request}. "
                "Try: replay with the task, seed, settings, templates and version of the recording"
            )
        if found[0].error:
            raise ModelError(found[0].error, found[0].usage)
        return [_to_reply(answer) for answer in takewhile(lambda answer: not answer.error, found)]

    def close(self) -> None:
        """Does nothing."""


def _to_reply(answer: RecordedAnswer) -> Reply:
    return Reply(answer.reply, answer.thinking, answer.finish, answer.usage, shorten(answer.revision))
