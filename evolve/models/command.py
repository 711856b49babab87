"""An external program as a model: it gets the prompt on stdin and answers on stdout.

Invariant: what a call started is over when the call is, however that ends, and when the engine is, however that was ended; a program sees the variables that its settings name, so no key
that it was not given."""

import json
import os
import shlex
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from evolve.models.lifeline import Lifeline
from evolve.models.running import Ended, run
from evolve.models.transcript import call_name, said, transcript
from evolve.types import ModelDown, ModelError, ModelGone, Prompt, Reply, Usage

PASSED = ("PATH", "HOME", "LANG")
"""Variables that every program sees."""
_LINES = 10
"""Of stderr in an error, the last ones."""
_SECRET = 8
"""Characters of a variable's value that is worth hiding."""


def _split(words: object) -> object:
    return shlex.split(words) if isinstance(words, str) else words


class CommandSettings(BaseModel):
    """Settings of the kind `command`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    argv: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        min_length=1,
        description="the program and its arguments: a list, or one text that is split as a shell does",
        examples=[["cat"]],
    )
    format: Literal["text", "json"] = Field(default="text", description="how the prompt stands on its stdin")
    environment: tuple[str, ...] = Field(
        default=(), description="variables of the engine that it sees, beside PATH, HOME and LANG"
    )


class Command:
    """Implements `Model`. Each call is a process of its own, and answers one sample."""

    def __init__(self, settings: CommandSettings) -> None:
        self._settings = settings
        self._lifeline = Lifeline()

    def check(self, deadline: float, cancelled: threading.Event) -> Usage:
        """The program is there, and so are the variables that it is given; it is not called."""
        environment = self._environment()
        missing = [name for name in self._settings.environment if name not in environment]
        if missing:
            raise ModelGone(
                f"the command {self._name!r} is given the variable {missing[0]}, which is not set. Do: set it, or leave it out of `environment`"
            )
        if shutil.which(self._settings.argv[0], path=environment.get("PATH")) is None:
            raise ModelGone(
                f"there is no program {self._settings.argv[0]!r} that can be run. Do: install it, or give its whole path"
            )
        return Usage()

    def complete(
        self, prompt: Prompt, *, samples: Sequence[int], deadline: float, cancelled: threading.Event
    ) -> Sequence[Reply]:
        """Answers the first sample."""
        began = time.monotonic()
        environment = self._environment()
        question = self._question(prompt, samples[0]).encode("utf-8", "surrogatepass")
        try:
            ended = run(self._settings.argv, question, environment, self._lifeline, deadline, cancelled)
            return [said(prompt, self._text(ended, environment), time.monotonic() - began)]
        except ModelError as error:
            error.seconds = time.monotonic() - began
            if not isinstance(error, ModelDown | ModelGone):  # it ran, and may have asked somebody who charges
                error.usage = said(prompt, "", 0.0).usage
            raise

    def close(self) -> None:
        """Nothing runs between calls but the guardian."""
        self._lifeline.close()

    @property
    def _name(self) -> str:
        return Path(self._settings.argv[0]).name

    def _environment(self) -> dict[str, str]:
        return {name: os.environ[name] for name in (*PASSED, *self._settings.environment) if name in os.environ}

    def _question(self, prompt: Prompt, sample: int) -> str:
        name = call_name(prompt.request, sample)
        if self._settings.format == "text":
            return transcript(prompt, name)
        told = {
            "name": name,
            "messages": [{"role": message.role, "content": message.text} for message in prompt.messages],
            "temperature": prompt.temperature,
            "effort": prompt.effort,
            "max_tokens": prompt.max_tokens,
        }
        return json.dumps(told, ensure_ascii=False) + "\n"

    def _text(self, ended: Ended, environment: Mapping[str, str]) -> str:
        """What it answered; raises `ModelError` with the end of what it said on stderr."""
        quoted = self._quoted(ended.errors, environment)
        if ended.code != 0:
            how = f"was ended by signal {-ended.code}" if ended.code < 0 else f"ended with exit code {ended.code}"
            raise ModelError(f"the command {self._name!r} {how}. Do: try it by hand{quoted}")
        try:
            text = ended.output.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(f"the command {self._name!r} has not answered in UTF-8: {error}. Do: mend it") from error
        if not text.strip():
            raise ModelError(
                f"the command {self._name!r} has answered nothing. Do: let it print the answer on stdout{quoted}"
            )
        return text

    def _quoted(self, errors: str, environment: Mapping[str, str]) -> str:
        """The last lines of stderr below the error, without what it was given in variables."""
        for name in self._settings.environment:
            value = environment.get(name, "")
            if len(value) >= _SECRET:
                errors = errors.replace(value, "***")
        lines = errors.strip().splitlines()[-_LINES:]
        return "".join(f"\n{line}" for line in lines)
