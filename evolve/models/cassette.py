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
from evolve.types.program import canonical, digest
from evolve.types.prompt import Finish

VERSION = 1
_HOW_TO_WRITE = "`evolve model calls NAME --cassette FILE` writes one"


class CassetteSettings(BaseModel):
    """Settings of the kind `cassette`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="the file with the answers", examples=["answers.jsonl"])


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """Answer to `request`, by its sample. `words` names the prompt's messages and `opening` the first of them, whatever the `sampling`
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
        """Name under which it is found."""
        return self.request, self.sample


def as_question(prompt: Prompt, sample: int) -> RecordedAnswer:
    """Returns a prompt without an answer yet."""
    turns = [[message.role, message.text] for message in prompt.messages]
    sampling = {"temperature": prompt.temperature, "effort": prompt.effort, "max_tokens": prompt.max_tokens}
    return RecordedAnswer(prompt.request, sample, _digest_of(turns), _digest_of(turns[:1]), sampling)


def _digest_of(turns: Sequence[Sequence[str]]) -> str:
    return digest(canonical(turns))[:16]


@dataclass(frozen=True, slots=True)
class Recording:
    """Answers of a cassette by their keys, and the version of evolve that began it."""

    answers: Mapping[tuple[str, int], RecordedAnswer] = field(default_factory=dict)
    version: str = ""


def read_recording(path: Path) -> Recording:
    """Reads a cassette; a last line without its end is left out. Raises `OSError`, and `ModelGone` for another kind of file."""
    version, answers = "", dict[tuple[str, int], RecordedAnswer]()
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1]):
        try:
            values = json.loads(line.decode("utf-8", "surrogatepass"))
            if number == 0:
                version = _read_version(values)
            else:
                answer = _read_answer(values)
                answers.setdefault(answer.key, answer)
        except ValueError as error:
            raise ModelGone(
                f"{path}, line {number + 1}: this is no line of a cassette: {error}. Do: mend or remove it, or name another file"
            ) from error
    return Recording(answers, version)


def add_answers(path: Path, answers: Iterable[RecordedAnswer]) -> int:
    """Adds the answers that a cassette has not got, and returns how many; the file is there whole or as before. Raises as `read_recording`."""
    known = read_recording(path).answers if path.exists() else {}
    new: dict[tuple[str, int], RecordedAnswer] = {}
    for answer in answers:
        if answer.key not in known:
            new.setdefault(answer.key, answer)
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    lines = [] if whole else [_format_line({"cassette": VERSION, "evolve": evolve.__version__})]
    lines += [_format_line(encode(answer)) for answer in new.values()]
    with atomic_write(path, replace=True) as file:
        file.write_bytes((whole and whole + b"\n") + b"".join(lines))
    return len(new)


_read_answer = decoder(RecordedAnswer)


def _read_version(head: Any) -> str:
    if not isinstance(head, dict) or head.get("cassette") != VERSION:
        raise ValueError(f'the first line is {{"cassette": {VERSION}, ...}}')
    return str(head.get("evolve", ""))


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
                f"the cassette {str(self._path)!r} cannot be used: {error.strerror}. Do: check the path; {_HOW_TO_WRITE}"
            ) from error

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """Checks that the file can be read, and has an answer; raises `ModelGone`."""
        if not self._recording.answers:
            raise ModelGone(f"the cassette {str(self._path)!r} has no answer in it. Do: {_HOW_TO_WRITE}")
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Returns the recorded answers from the first sample on, as many as there are in a row."""
        asked = [as_question(prompt, sample) for sample in samples]
        known = self._recording.answers
        found = [known[one.key] for one in takewhile(lambda one: one.key in known, asked)]
        if not found:
            why = _explain_no_answer(self._recording, asked[0])
            raise ModelError(
                f"the cassette {str(self._path)!r} has no answer {asked[0].sample} to request {asked[0].request}: {why}"
            )
        if found[0].error:
            raise ModelError(found[0].error, found[0].usage)
        return [_to_reply(answer) for answer in takewhile(lambda answer: not answer.error, found)]

    def close(self) -> None:
        """Does nothing."""


def _to_reply(answer: RecordedAnswer) -> Reply:
    return Reply(answer.reply, answer.thinking, answer.finish, answer.usage, shorten(answer.revision))


def _explain_no_answer(recording: Recording, asked: RecordedAnswer) -> str:
    """Tells why there is no answer, by the recorded question that comes nearest."""
    known = list(recording.answers.values())
    same = [answer for answer in known if answer.request == asked.request]
    alike = [answer for answer in known if answer.words == asked.words]
    begun = [answer for answer in known if answer.opening == asked.opening]
    if same:
        why = f"it has {len(same)} to this prompt, and another one is asked for. Do: replay with the settings of the recording"
    elif alike:
        why = (
            f"this prompt was recorded with {_format_differences(alike[-1], asked)}. Do: set what it was recorded with"
        )
    elif begun:
        why = "a prompt that begins so was recorded, and went on otherwise. Do: replay with the task, seed, settings and models of the recording"
    else:
        why = f"no prompt in it begins like this one. Do: replay with the task, templates and version of the recording{_format_version(recording.version)}"
    return why


def _format_differences(recorded: RecordedAnswer, asked: RecordedAnswer) -> str:
    keys = [key for key in asked.sampling if recorded.sampling.get(key) != asked.sampling[key]]
    differences = [f"{key} {recorded.sampling.get(key)!r} and is asked with {asked.sampling[key]!r}" for key in keys]
    return ", ".join(differences) or "other settings"


def _format_version(version: str) -> str:
    return f" (evolve {version}, and this is {evolve.__version__})" if version else ""
