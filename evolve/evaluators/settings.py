"""The settings of the evaluator `command`, as a task's file has them, and the sources of a script's score.

What passes can be run: a score is either claimed, and then it is said where, or rescored, and then by what and from what."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from evolve.evaluators.saved import Unreadable, member, number, read_json
from evolve.types.errors import did_you_mean

PLACEHOLDERS = ("seed", "seconds", "out", "gpus", "previous")
PLACEHOLDER = re.compile(r"(?<!\$)\{(\w+)\}")
"""A name in braces; `${HOME}` is a shell's."""
_LONGEST_LINE = 4096
"""Characters of a line of output that are looked at: a long line and a careless expression may take for ever."""
_STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in `source`, a JSON file or a stream, at `path`: keys of the JSON value, or a regular expression with one group."""

    source: str
    path: str

    @classmethod
    def parse(cls, written: str) -> "Metric":
        """Parses `results.json:accuracy` or `stdout:loss = (.*)`; raises `ValueError` with the remedy."""
        source, _, path = written.partition(":")
        if not path or (source not in _STREAMS and not source.lower().endswith(".json")):
            raise ValueError(
                'a metric is "FILE.json:KEY" or "stdout:REGULAR EXPRESSION" (or stderr). Try: write for example "results.json:accuracy"'
            )
        if source in _STREAMS:
            try:
                groups = re.compile(path).groups
            except re.error as error:
                raise ValueError(f"{path!r} is no regular expression: {error}. Try: correct it") from None
            if groups != 1:
                raise ValueError(f"{path!r} has {groups} groups, wanted one. Try: put the number alone in ( )")
        return cls(source, path)

    @property
    def file(self) -> str:
        """The file that it stands in; empty for a stream."""
        return "" if self.source in _STREAMS else self.source

    def read(self, files: Mapping[str, bytes], streams: Mapping[str, str]) -> float:
        """Returns the number, of what the script has left and printed; raises `Unreadable` with the source."""
        try:
            if not self.file:
                return _last_match(self.path, streams[self.source])
            if self.source not in files:
                raise Unreadable("the script left no such file")
            return member(read_json(files[self.source]), self.path)
        except Unreadable as error:
            raise Unreadable(f"{self.source}: {error}") from None


def _last_match(pattern: str, text: str) -> float:
    """Returns the number of the last line that matches: scripts print a metric again and again."""
    for line in reversed(text.splitlines()):
        match = re.search(pattern, line[:_LONGEST_LINE])
        if match is not None:
            return number(match[1] or "")
    raise Unreadable(f"no line matches {pattern!r}")


def _check_word(word: str) -> str:
    for name in PLACEHOLDER.findall(word):
        if name not in PLACEHOLDERS:
            raise ValueError(
                f"there is no {{{name}}}.{did_you_mean(name, PLACEHOLDERS)} Try: use {', '.join(f'{{{each}}}' for each in PLACEHOLDERS)}"
            )
    return word


def _check_metric(written: str) -> str:
    if written:
        Metric.parse(written)
    return written


def _check_file(name: str) -> str:
    place = PurePosixPath(name)
    if not place.name or place.is_absolute() or ".." in place.parts or str(place) != name or not name.isprintable():
        raise ValueError("a file is named by its path from the folder in which the script runs, without . and ..")
    return name


Word = Annotated[str, AfterValidator(_check_word)]
MetricSource = Annotated[str, AfterValidator(_check_metric)]
FileName = Annotated[str, AfterValidator(_check_file)]


class CommandSettings(BaseModel):
    """`evaluator = { kind = "command", ... }`: the keys of docs/tasks.md."""

    model_config = ConfigDict(extra="forbid")

    argv: list[Word] = Field(min_length=1, examples=[["python", "train.py"]])
    arguments: dict[str, list[Word]] = {}
    trust: Literal["claimed", "rescored"] = Field(default="claimed")
    metric: MetricSource = Field(default="", examples=["results.json:accuracy"])
    metrics: dict[str, MetricSource] = {}
    rescore: str = ""
    saved: list[FileName] = []
    bytes: int = Field(default=8 << 20, ge=1, le=64 << 20)

    @model_validator(mode="after")
    def _check_source_of_score(self) -> "CommandSettings":
        if not self.argv[0] or PLACEHOLDER.search(self.argv[0]):
            raise ValueError('the first word of argv names a command. Try: write argv = ["python", "train.py"]')
        if self.trust == "claimed":
            if not self.metric or self.rescore:
                raise ValueError(
                    'a claimed score is read from `metric`, and nothing is rescored. Try: give metric = "results.json:accuracy", or set trust = "rescored"'
                )
        elif not self.rescore or not self.saved or self.metric or self.metrics:
            raise ValueError(
                "a rescored one is computed by `rescore`, a file of the task, from the files `saved`, and no metric is read. Try: give both, and no metric"
            )
        return self
