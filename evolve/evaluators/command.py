"""The evaluator `command`: an existing script is the program, and its run is the trial.

Invariant: a score that is read from what the script says is *claimed*; one that a function of the task computes from what the script has
saved is *rescored*; none is witnessed. Whatever a script does, writes or prints ends in an outcome of the program."""

import base64
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from evolve.evaluation.task_code import task_module
from evolve.evaluators.saved import Unreadable, member, number, read_json
from evolve.types import Evaluation, Outcome, Stage, Task, TaskError, Trial, Trust
from evolve.types.errors import did_you_mean

if TYPE_CHECKING:  # a plugin is loaded where nothing is evaluated, too
    from evolve import Candidate

Rescore: TypeAlias = Callable[[Mapping[str, bytes], Trial], float | Evaluation]

CARRIED = "saved"
"""The artifact by which a script's files reach its children."""
_PREVIOUS = "previous"
_TOLD, _ENDED = 0.8, 0.9
"""Shares of a stage's limit: what a script is told that it has, and when it is interrupted, so that its last words are known."""
_WORDS = 2000
"""Characters of each stream that the feedback shows."""
_LATE = 124
"""The exit code by which `timeout` says that it interrupted the command."""
_PYTHON = ("python", "python3")
PLACEHOLDERS = ("seed", "seconds", "out", "gpus", "previous", "case")
PARAMETER = "task."
"""What a placeholder for one of the task's parameters begins with."""
_PLACEHOLDER = re.compile(r"(?<!\$)\{([\w.]+)\}")
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
        # The output is the program's, and a line of megabytes could keep the evaluator busy.
        match = re.search(pattern, line[:_LONGEST_LINE])
        if match is not None:
            return number(match[1] or "")
    raise Unreadable(f"no line matches {pattern!r}")


def _check_word(word: str) -> str:
    for name in _PLACEHOLDER.findall(word):
        if name not in PLACEHOLDERS and not name.startswith(PARAMETER):
            known = ", ".join(f"{{{each}}}" for each in (*PLACEHOLDERS, f"{PARAMETER}NAME"))
            raise ValueError(f"there is no {{{name}}}.{did_you_mean(name, PLACEHOLDERS)} Try: use {known}")
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
        if not self.argv[0] or _PLACEHOLDER.search(self.argv[0]):
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


class Command:
    """One task's evaluator; made in a worker from checked settings. The stages are those of the task's file, and each runs the script."""

    def __init__(self, settings: CommandSettings) -> None:
        self._settings = settings
        self._metric = Metric.parse(settings.metric) if settings.metric else None
        self._metrics = {name: Metric.parse(written) for name, written in settings.metrics.items()}

    def stages(self, task: Task) -> Sequence[tuple[Stage, Callable[["Candidate", Trial], Evaluation]]]:
        """A run for each stage; raises `TaskError` where the script could never be run or scored."""
        self._check(task)
        score = self._make_rescorer(task) if self._settings.rescore else self._make_claimed_scorer(task)

        def evaluate(candidate: "Candidate", trial: Trial) -> Evaluation:
            run = self._run(task, candidate, trial)
            if run.failure is not None:
                return run.failure
            try:
                evaluation = score(run, trial)
            except Unreadable as error:
                return Evaluation.invalid(f"{error}\n\n{run.words}".strip())
            return replace(evaluation, artifacts={**evaluation.artifacts, **run.make_carried_artifact(task)})

        return [(stage, evaluate) for stage in task.stages]

    def functions(self, task: Task) -> Mapping[str, Callable[[Mapping[str, Any], Trial], Any]]:
        """Returns no function: a script's claims and files are no proof."""
        return {}

    def _check(self, task: Task) -> None:
        if not task.limits.grants.execute:
            raise TaskError(
                "a script is run as a command, and the task grants none. Try: take `exec = false` out of [sandbox]"
            )
        names = [stage.name for stage in task.stages]
        for name in self._settings.arguments:
            if name not in names:
                raise TaskError(
                    f"the evaluator has arguments for stage {name!r}, which the task does not have.{did_you_mean(name, names)} Try: declare it in [[stages]]"
                )
        words = [*self._settings.argv, *(word for given in self._settings.arguments.values() for word in given)]
        used = {name for word in words for name in _PLACEHOLDER.findall(word)}
        self._check_parameters(task, used)
        if _PREVIOUS in used and not (CARRIED in task.carry and self._settings.saved):
            raise TaskError(
                "a script that is told {previous} needs what its parent saved. Try: name the files in `saved`, and write [carry] "
                f'artifacts = ["{CARRIED}"]'
            )
        command = _command(self._settings.argv[0])
        if not _is_within(command) and shutil.which(command) is None:
            raise TaskError(
                f"this machine has no command {command!r}, which the task runs. Try: install it, or put its folder on PATH"
            )

    def _check_parameters(self, task: Task, used: Set[str]) -> None:
        asked = sorted(name.removeprefix(PARAMETER) for name in used if name.startswith(PARAMETER))
        for name in asked:
            if name not in task.parameters:
                raise TaskError(
                    f"a script is told {{{PARAMETER}{name}}}, and the task has no such parameter.{did_you_mean(name, task.parameters)} Try: declare it in [parameters]"
                )
        # A script whose files are scored apart may be scored by the case alone.
        if task.cases and not (asked or "case" in used or self._settings.rescore):
            raise TaskError(
                "the task has cases, and its script is not told which one it runs on: all would be the same. Try: write {case}, or the parameter as "
                f"{{{PARAMETER}NAME}}, in argv"
            )

    def _run(self, task: Task, candidate: "Candidate", trial: Trial) -> "_CommandRun":
        """Runs the script once; what the sandbox says of a crash or of too much memory passes to the cascade."""
        settings = self._settings
        words = _fill_placeholders([*settings.argv, *settings.arguments.get(trial.stage, ())], _values(task, trial))
        metrics = [*([self._metric] if self._metric else []), *self._metrics.values()]
        names = dict.fromkeys([*settings.saved, *(metric.file for metric in metrics if metric.file)])
        files: dict[str, bytes] = {}
        with candidate.session(files=_previous(trial, settings.saved)) as session:
            completed = session.run(_add_timeout(words, trial.limit * _ENDED))
            if completed.code == 0:
                for name in names:
                    files |= session.keep([name], claimed=True)
        run = _CommandRun(files, completed.stdout, completed.stderr)
        return replace(run, failure=self._failure(run, completed.code, trial))

    def _failure(self, run: "_CommandRun", code: int, trial: Trial) -> Evaluation | None:
        """Returns the failure of a run that has no score, else None."""
        settings = self._settings
        # Before other codes: `timeout` has interrupted it, whatever the script made of the signal.
        if code == _LATE:
            return run.fail(
                Outcome.TIMED_OUT, f"it was interrupted after {trial.limit * _ENDED:.3g} of {trial.limit:g} s"
            )
        if code != 0:
            return run.fail(Outcome.CRASHED, f"it ended with exit code {code}")
        size = sum(map(len, run.files.values()))
        if size > settings.bytes:
            return run.fail(Outcome.INVALID, f"its files have {size:,} bytes, and {settings.bytes:,} are allowed")
        missing = [name for name in settings.saved if name not in run.files]
        return run.fail(Outcome.INVALID, f"it left no file {missing[0]!r}") if missing else None

    def _make_claimed_scorer(self, task: Task) -> Callable[["_CommandRun", Trial], Evaluation]:
        """The score as the script says it."""
        assert self._metric is not None, "a claimed score has a metric"
        metric, further = self._metric, self._metrics

        def score(run: "_CommandRun", trial: Trial) -> Evaluation:
            fitness = run.read(metric)
            metrics = {name: run.read(each) for name, each in further.items()}
            return Evaluation.ok(
                fitness,
                objectives={each.name: metrics[each.name] for each in task.objectives if each.name in metrics},
                descriptors={each.name: metrics[each.name] for each in task.axes if each.name in metrics},
                metrics=metrics,
                feedback=f"{task.fitness.name} {fitness:.12g}, as the script says in {metric.source}\n\n{run.words}".strip(),
                trust="claimed",
            )

        return score

    def _make_rescorer(self, task: Task) -> Callable[["_CommandRun", Trial], Evaluation]:
        """The score as the task's own function computes it."""
        rescore = _load_rescore(task, self._settings.rescore)

        def score(run: "_CommandRun", trial: Trial) -> Evaluation:
            saved = {name: run.files[name] for name in self._settings.saved}
            found = rescore(saved, trial)
            if isinstance(found, Evaluation):
                trust: Trust = found.trust if found.trust == "claimed" else "rescored"
                return replace(found, trust=trust, feedback=found.feedback or run.words)
            return Evaluation.ok(found, feedback=run.words, trust="rescored")

        return score


@dataclass(frozen=True, slots=True)
class _CommandRun:
    """Files and output of a run, and its failure where it has no score."""

    files: Mapping[str, bytes]
    stdout: str
    stderr: str
    failure: Evaluation | None = None

    @property
    def words(self) -> str:
        """The end of each stream, for whoever improves the program."""
        parts = [("The end of its output", self.stdout), ("The end of its errors", self.stderr)]
        return "\n\n".join(f"{label}:\n{text.strip()[-_WORDS:]}" for label, text in parts if text.strip())

    def fail(self, outcome: Outcome, why: str) -> Evaluation:
        """An evaluation with the reason, and the script's last words."""
        return Evaluation.failed(outcome, f"{why}\n\n{self.words}".strip())

    def read(self, metric: Metric) -> float:
        """A number that the script claims; raises `Unreadable`."""
        return metric.read(self.files, {"stdout": self.stdout, "stderr": self.stderr})

    def make_carried_artifact(self, task: Task) -> Mapping[str, Any]:
        """Returns the saved files as an artifact for the script's children, where the task carries them."""
        if CARRIED not in task.carry:
            return {}
        return {CARRIED: {name: base64.b64encode(content).decode() for name, content in self.files.items()}}


def _values(task: Task, trial: Trial) -> Mapping[str, str]:
    return {
        "seed": str(trial.seed),
        "seconds": f"{trial.limit * _TOLD:.6g}",
        "out": ".",
        "gpus": str(task.limits.grants.gpu),
        "previous": _PREVIOUS,
        "case": trial.case,
        **{f"{PARAMETER}{name}": _format(value) for name, value in trial.parameters.items()},
    }


def _format(value: object) -> str:
    """Formats a parameter as TOML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fill_placeholders(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    filled = [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in words]
    return [_command(filled[0]), *filled[1:]]


def _command(name: str) -> str:
    """`python` is the Python of the task, whatever else is on PATH."""
    return sys.executable if name in _PYTHON else name


def _is_within(command: str) -> bool:
    """A path in the folder of the program."""
    return os.sep in command and not command.startswith(os.sep)


def _add_timeout(words: Sequence[str], seconds: float) -> list[str]:
    """The command under coreutils' `timeout`: what it printed is known then, as it is not where the session's limit ends it. A file of the program, which
    the sandbox may have to mark as executable, is run as it is."""
    if _is_within(words[0]) or shutil.which("timeout") is None:
        return list(words)
    return ["timeout", "--signal=INT", f"{seconds:.3f}", *words]


def _previous(trial: Trial, names: Sequence[str]) -> Mapping[str, bytes]:
    """Returns the files that the parent saved, in a folder of their own."""
    left = trial.carried(CARRIED)
    if not isinstance(left, dict):
        return {}
    found: dict[str, bytes] = {}
    for name in names:
        try:
            found[f"{_PREVIOUS}/{name}"] = base64.b64decode(str(left[name]), validate=True)
        except (KeyError, ValueError):  # what an earlier version of the task has left
            continue
    return found


def _load_rescore(task: Task, file: str) -> Rescore:
    """The function `rescore` of a file in the task's folder, which may import its neighbours; raises `TaskError`."""
    if task.one_file:
        raise TaskError(
            f"{task.path}: a task in one file has no other file {file!r} to rescore with. Try: give the task a folder"
        )
    module = task_module(task.folder, file, {"rescore": "(files, trial)"}, setting="evaluator.rescore")
    function: Rescore = module.value("rescore")
    return function
