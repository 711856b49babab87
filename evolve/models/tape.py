"""The file of a cassette: a head, then one line of JSON per answer.

Invariant: a line is added whole or not at all, and after what other engines have added; of two answers to one question the first one holds."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import evolve
from evolve.types import ModelGone, Prompt, Usage
from evolve.types.codec import decoder, encode
from evolve.types.program import canonical, digest
from evolve.types.prompt import Finish

VERSION = 1
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to `request`, by its sample. `words` names the prompt's messages and `opening` the first of them, whatever the `sampling`
    (temperature, effort, max_tokens) of the answer; where `error` says why the call failed, there is no reply."""

    request: str
    sample: int
    words: str = ""
    opening: str = ""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    reply: str = ""
    thinking: str = ""
    finish: Finish = ""
    usage: Usage = field(default_factory=Usage)
    revision: str = ""
    error: str = ""

    @property
    def key(self) -> tuple[str, int]:
        """What it is found by."""
        return self.request, self.sample


def question(prompt: Prompt, sample: int) -> Answer:
    """A prompt without an answer yet."""
    turns = [[message.role, message.text] for message in prompt.messages]
    sampling = {"temperature": prompt.temperature, "effort": prompt.effort, "max_tokens": prompt.max_tokens}
    return Answer(prompt.request, sample, _name(turns), _name(turns[:1]), sampling)


def _name(turns: Sequence[Sequence[str]]) -> str:
    return digest(canonical(turns))[:16]


class Tape:
    """A cassette's file as far as it was read. One thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[tuple[str, int], Answer] = {}
        self.version = ""
        """Of the evolve that began it."""
        self._bytes = 0
        self._lines = 0

    def read(self) -> None:
        """Takes what was added since the last time; a last line without its end is left. Raises `ModelGone` for what is no cassette, `OSError`."""
        with self.path.open("rb") as file:
            self._take(file.fileno())

    def add(self, answers: Sequence[Answer]) -> None:
        """Appends what is not there yet, on the disk then; what another engine has added meanwhile is read first, and holds. Raises as `read` does."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path) as file:
            self._take(file)
            os.ftruncate(file, self._bytes)
            new = {answer.key: answer for answer in reversed(answers) if answer.key not in self.answers}
            lines = [] if self._lines else [{"cassette": VERSION, "evolve": evolve.__version__}]
            lines += [encode(new[answer.key]) for answer in answers if new.get(answer.key) is answer]
            os.lseek(file, self._bytes, os.SEEK_SET)
            _write(file, "".join(map(_line, lines)).encode("utf-8", "surrogatepass"))
            self._take(file)

    def _take(self, file: int) -> None:
        if os.lseek(file, 0, os.SEEK_END) < self._bytes:
            raise ModelGone(
                f"the cassette {str(self.path)!r} was cut while it was used. Do: put it back, or record anew"
            )
        os.lseek(file, self._bytes, os.SEEK_SET)
        whole, end, _ = _rest(file).rpartition(b"\n")
        if not end:
            return
        for line in whole.split(b"\n"):
            self._lines += 1
            self._keep(line)
        self._bytes += len(whole) + 1

    def _keep(self, line: bytes) -> None:
        try:
            values = json.loads(line.decode("utf-8", "surrogatepass"))
            if self._lines == 1:
                self.version = _version(values)
            else:
                answer = _answer(values)
                self.answers.setdefault(answer.key, answer)
        except ValueError as error:
            raise ModelGone(
                f"{self.path}, line {self._lines}: this is no line of a cassette: {error}. Do: mend or remove it, or name another file"
            ) from error


_answer = decoder(Answer)


def _version(head: Any) -> str:
    if not isinstance(head, dict) or head.get("cassette") != VERSION:
        raise ValueError(f'the first line is {{"cassette": {VERSION}, ...}}')
    return str(head.get("evolve", ""))


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def _rest(file: int) -> bytes:
    parts = []
    while part := os.read(file, _CHUNK):
        parts.append(part)
    return b"".join(parts)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """The file, open for one engine and one thread at a time."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)
