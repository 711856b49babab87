"""The settings of the evaluator `command`, as a task's file has them.

Invariant: what passes can be run: a score is either claimed, and then it is said where, or rescored, and then by what and from what."""

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from evolve.evaluators.metrics import Metric
from evolve.types.suggest import did_you_mean

PLACEHOLDERS = ("seed", "seconds", "out", "gpus", "previous")
PLACEHOLDER = re.compile(r"(?<!\$)\{(\w+)\}")
"""A name in braces; `${HOME}` is a shell's."""


def _word(word: str) -> str:
    for name in PLACEHOLDER.findall(word):
        if name not in PLACEHOLDERS:
            raise ValueError(
                f"there is no {{{name}}}.{did_you_mean(name, PLACEHOLDERS)} Do: use {', '.join(f'{{{each}}}' for each in PLACEHOLDERS)}"
            )
    return word


def _metric(written: str) -> str:
    if written:
        Metric.parse(written)
    return written


def _file(name: str) -> str:
    place = PurePosixPath(name)
    if not place.name or place.is_absolute() or ".." in place.parts or str(place) != name or not name.isprintable():
        raise ValueError("a file is named by its path from the folder in which the script runs, without . and ..")
    return name


Word = Annotated[str, AfterValidator(_word)]
Written = Annotated[str, AfterValidator(_metric)]
FileName = Annotated[str, AfterValidator(_file)]


class CommandSettings(BaseModel):
    """`evaluator = { kind = "command", ... }`: the keys of docs/tasks.md."""

    model_config = ConfigDict(extra="forbid")

    argv: list[Word] = Field(min_length=1, examples=[["python", "train.py"]])
    arguments: dict[str, list[Word]] = {}
    trust: Literal["claimed", "rescored"] = Field(default="claimed")
    metric: Written = Field(default="", examples=["results.json:accuracy"])
    metrics: dict[str, Written] = {}
    rescore: str = ""
    saved: list[FileName] = []
    bytes: int = Field(default=8 << 20, ge=1, le=64 << 20)
    cpu_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _a_score_has_one_source(self) -> "CommandSettings":
        if not self.argv[0] or PLACEHOLDER.search(self.argv[0]):
            raise ValueError('the first word of argv names a command. Do: write argv = ["python", "train.py"]')
        if self.trust == "claimed":
            if not self.metric or self.rescore:
                raise ValueError(
                    'a claimed score is read from `metric`, and nothing is rescored. Do: give metric = "results.json:accuracy", or set trust = "rescored"'
                )
        elif not self.rescore or not self.saved or self.metric or self.metrics:
            raise ValueError(
                "a rescored one is computed by `rescore`, a file of the task, from the files `saved`, and no metric is read. Do: give both, and no metric"
            )
        if len(set(self.saved)) < len(self.saved):
            raise ValueError("a file is named twice in `saved`. Do: name each once")
        return self
