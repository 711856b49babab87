"""A recording as a model: it answers a question as it was answered before, and may ask another model for what it has not got.

Invariant: a question has the same answer each time, whoever recorded it; a replay costs nothing, and reports the usage that was recorded."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import evolve
from evolve.hookspecs import ModelEntry
from evolve.models.faults import brief
from evolve.models.tape import Answer, Tape, question
from evolve.protocols import Model
from evolve.types import ConfigError, ModelDown, ModelError, ModelGone, Prompt, Reply, Unaffordable, Usage
from evolve.types.suggest import did_you_mean


class Recorded(BaseModel):
    """The model that a cassette asks for what it has not got."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str = "openai"
    settings: dict[str, Any] = {}


class CassetteSettings(BaseModel):
    """Settings of the kind `cassette`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="the file with the answers", examples=["answers.jsonl"])
    record: Recorded | None = Field(
        default=None, description="kind and settings of the model that is asked for what the file has not got"
    )


def opened(settings: CassetteSettings, kinds: Mapping[str, ModelEntry]) -> "Cassette":
    """A cassette with its settings; `kinds` are those that it may record. Raises `ConfigError`, and what making the other model raises."""
    source = None if settings.record is None else _made(settings.record, kinds)
    return Cassette(settings.path.expanduser().absolute(), source)


def _made(recorded: Recorded, kinds: Mapping[str, ModelEntry]) -> Model:
    entry = kinds.get(recorded.kind)
    if entry is None:
        raise ConfigError(
            f"a cassette cannot record a model of the kind {recorded.kind!r}.{did_you_mean(recorded.kind, kinds)} "
            "Do: run the campaign with it, then `evolve model calls NAME --cassette FILE`"
        )
    if entry.settings is None:
        return entry.factory({})
    try:
        return entry.factory(entry.settings.model_validate(recorded.settings).model_dump())
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(f"record.settings of a cassette: {key}: {first['msg']}. Do: correct them") from error


class Cassette:
    """Implements `Model`. `source` is the model to record, None where all is replayed."""

    def __init__(self, path: Path, source: Model | None = None) -> None:
        self._tape = Tape(path)
        self._source = source
        self._turn = threading.Lock()

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """The file can be read, or written where something is recorded, and so can the other model be called."""
        if self._source is None:
            self._catch_up()
            if not self._tape.answers:
                raise ModelGone(f"the cassette {str(self._tape.path)!r} has no answer in it. Do: {_WRITE}")
            return Usage()
        self._add([])
        return self._source.check(deadline, cancelled)

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """The samples that it has got, from the first one on; where it has not got that one, those that the other model gave."""
        began = time.monotonic()
        asked = [question(prompt, sample) for sample in samples]
        if not self._found(asked):
            self._catch_up()
        found = self._found(asked)
        if not found and self._source is not None:
            self._record(self._source, prompt, asked, deadline, cancelled)
            found = self._found(asked)
        if not found:
            raise ModelError(_told(self._tape, asked[0]))
        if found[0].error:
            raise ModelError(found[0].error, found[0].usage)
        seconds = time.monotonic() - began
        return [_reply(answer, seconds) for answer in takewhile(lambda answer: not answer.error, found)]

    def close(self) -> None:
        """Ends the model that is recorded."""
        if self._source is not None:
            self._source.close()

    def _found(self, asked: Sequence[Answer]) -> list[Answer]:
        """Its answers to the first of them, as many as it has in a row."""
        with self._turn:
            known = [self._tape.answers.get(one.key) for one in asked]
        return [answer for answer in takewhile(lambda answer: answer is not None, known) if answer is not None]

    def _record(
        self, source: Model, prompt: Prompt, asked: Sequence[Answer], deadline: float, cancelled: threading.Event
    ) -> None:
        """Asks for those of the first ones that are missing. What failed for good is recorded as such."""
        lacking = list(takewhile(lambda one: not self._found([one]), asked))
        samples = [one.sample for one in lacking]
        try:
            replies = source.complete(prompt, samples=samples, deadline=deadline, cancelled=cancelled)
        except (ModelDown, ModelGone, Unaffordable):
            raise
        except ModelError as error:
            if cancelled.is_set() or time.monotonic() >= deadline:
                raise
            self._add([replace(lacking[0], error=str(error), usage=error.usage)])
            return
        self._add([_answer(one, reply) for one, reply in zip(lacking, replies, strict=False)])

    def _catch_up(self) -> None:
        """Reads what was added to the file; raises `ModelGone`."""
        try:
            with self._turn:
                self._tape.read()
        except FileNotFoundError as error:
            if self._source is None:
                raise _unusable(self._tape.path, error) from error
        except OSError as error:
            raise _unusable(self._tape.path, error) from error

    def _add(self, answers: Sequence[Answer]) -> None:
        try:
            with self._turn:
                self._tape.add(answers)
        except OSError as error:
            raise _unusable(self._tape.path, error) from error


_WRITE = "`evolve model calls NAME --cassette FILE` writes one"


def _unusable(path: Path, error: OSError) -> ModelGone:
    return ModelGone(f"the cassette {str(path)!r} cannot be used: {error.strerror}. Do: check the path; {_WRITE}")


def _answer(asked: Answer, reply: Reply) -> Answer:
    return replace(
        asked,
        reply=reply.text,
        thinking=reply.thinking,
        finish=reply.finish,
        usage=reply.usage,
        revision=reply.revision,
    )


def _reply(answer: Answer, seconds: float) -> Reply:
    return Reply(answer.reply, answer.thinking, answer.finish, answer.usage, brief(answer.revision), seconds)


def _told(tape: Tape, asked: Answer) -> str:
    """Why there is no answer, by what comes nearest to the question."""
    known = list(tape.answers.values())
    same = [answer for answer in known if answer.request == asked.request]
    alike = [answer for answer in known if answer.words == asked.words]
    begun = [answer for answer in known if answer.opening == asked.opening]
    if same:
        why = (
            f"it has {len(same)} to this prompt, and another one is asked for. Do: record it, with the setting `record`"
        )
    elif alike:
        why = f"this prompt was recorded with {_differences(alike[-1], asked)}. Do: set what it was recorded with"
    elif begun:
        why = "a prompt that begins so was recorded, and went on otherwise. Do: replay with the task, seed, settings and models of the recording"
    else:
        why = f"no prompt in it begins like this one. Do: replay with the task, templates and version of the recording{_version(tape)}"
    return f"the cassette {str(tape.path)!r} has no answer {asked.sample} to request {asked.request}: {why}"


def _differences(recorded: Answer, asked: Answer) -> str:
    keys = [key for key in asked.sampling if recorded.sampling.get(key) != asked.sampling[key]]
    told = [f"{key} {recorded.sampling.get(key)!r} and is asked with {asked.sampling[key]!r}" for key in keys]
    return ", ".join(told) or "other settings"


def _version(tape: Tape) -> str:
    return f" (evolve {tape.version}, and this is {evolve.__version__})" if tape.version else ""
