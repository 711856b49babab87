"""Loader of tasks: a task's folder, or its one file, becomes a `Task` with its version.

Two tasks with the same version evaluate every program alike: the version covers `task.toml` and every other file of the folder
but READMEs, or the one file, and the parameters."""

import itertools
import math
import os
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve import prompts
from evolve.evaluation.provenance import task_version
from evolve.task import one_file
from evolve.task.folders import TASK_FILE, find, name_of
from evolve.task.grants import make_limits
from evolve.task.schema import Cases, StageTable, TaskFile, parse
from evolve.task.verifier import check_verifier
from evolve.types import (
    Anchor,
    Axis,
    Case,
    Check,
    ConfigError,
    Constraint,
    EvaluatorSource,
    Fitness,
    Needs,
    Objective,
    Program,
    Scalar,
    Stage,
    Task,
    TaskError,
    top_share,
)
from evolve.types.errors import did_you_mean


def load(reference: str | Path, parameters: Mapping[str, Scalar] | None = None) -> Task:
    """Returns the task that `reference` names (see `find`), with some of its parameters set otherwise. Raises `TaskError`."""
    place = find(reference)
    try:
        return _read(place, parameters or {})
    except OSError as error:
        raise TaskError(f"{place}: the task cannot be read: {error}. Try: make its files readable") from error


@dataclass(frozen=True, slots=True)
class _Contents:
    """Contents of the files that a task file names, or of the parts of a one-file task."""

    brief: str
    seed: Program
    evaluator: EvaluatorSource
    context: Mapping[str, str] = field(default_factory=dict)
    verifier: str = ""


def _read(place: Path, given: Mapping[str, Scalar]) -> Task:
    where = place / TASK_FILE if place.is_dir() else place
    if where.suffix == ".py":
        parts = one_file.read(where)
        seed = Program({one_file.SEED: parts.seed})
        contents = _Contents(parts.brief, seed, EvaluatorSource(path=where.name))
        return _make_task(place, where, _parse(where, parts.settings), contents, given)
    file = _parse(where, _read_toml(where))
    contents = _Contents(
        brief=_read_text(where, file.brief, "brief"),
        seed=Program({name: _read_text(where, name, "program.files") for name in file.program.files}),
        evaluator=_check_evaluator(where, file.evaluator),
        context={name: _read_text(where, name, "program.context") for name in file.program.context},
        verifier=_read_verifier(where, file.verifier),
    )
    return _make_task(place, where, file, contents, given)


def _make_task(place: Path, where: Path, file: TaskFile, contents: _Contents, given: Mapping[str, Scalar]) -> Task:
    folder, parameters = where.parent, _set_parameters(where, file.parameters, given)
    whole = where.name if where.suffix == ".py" else ""
    task_file = "" if whole or where.name == TASK_FILE else where.name
    return Task(
        name=name_of(place),
        folder=str(folder),
        version=task_version(folder, parameters, whole, file.prompts or "", task_file),
        brief=contents.brief,
        seed=contents.seed,
        entry=file.program.entry,
        evaluator=contents.evaluator,
        deterministic=file.deterministic,
        promotion=file.promotion,
        fitness=Fitness(**file.fitness.model_dump()),
        parameters=parameters,
        stages=tuple(_make_stage(where, table, file.sandbox.gpu) for table in file.stages),
        axes=tuple(Axis(**table.model_dump()) for table in file.axes),
        anchors=tuple(Anchor(**table.model_dump()) for table in file.anchors),
        bound=file.bound.value if file.bound else None,
        limits=make_limits(file.sandbox, folder),
        context=contents.context,
        new_files=tuple(file.program.new_files),
        objectives=tuple(Objective(**table.model_dump()) for table in file.objectives),
        constraints=tuple(Constraint(**table.model_dump()) for table in file.constraints),
        cases=_make_cases(where, file.cases, parameters, weighted=True),
        held_out=_make_cases(where, file.held_out, parameters),
        carry=tuple(file.carry.artifacts) if file.carry else (),
        python=_find_interpreter(folder, file.environment.python) if file.environment else "",
        one_file=whole,
        task_file=task_file,
        prompts=_read_prompts(where, file.prompts),
        prompts_folder=file.prompts or "",
        novelty_distance=file.novelty.distance,
        check=Check(file.check.answers, file.check.precision, tuple(file.check.honest), tuple(file.check.dishonest)),
        verifier=contents.verifier,
    )


def _read_prompts(where: Path, folder: str | None) -> Mapping[str, str]:
    """Returns the templates that a task brings, by name."""
    if folder is None:
        return {}
    try:
        return prompts.from_folder(where.parent / folder)
    except ConfigError as error:
        raise TaskError(f"{where}: prompts: {error}") from error


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_refuse_mark(path, path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: this is not TOML: {error}. Try: mend that line") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: this is not a text in UTF-8: {error}. Try: save it as UTF-8") from error


def _parse(where: Path, keys: Mapping[str, Any]) -> TaskFile:
    try:
        return parse(keys)
    except ValueError as error:
        raise TaskError(f"{where}: {error}") from error


def _refuse_mark(path: Path, text: str) -> str:
    """Returns the text; raises `TaskError` where it begins with a byte order mark, which some editors write and which no reader of it expects."""
    if text.startswith("\ufeff"):
        raise TaskError(f"{path}: this begins with a byte order mark (BOM). Try: save it as UTF-8 without one")
    return text


def _read_text(where: Path, name: str, key: str) -> str:
    """Returns the text of the file `name` beside the task file."""
    file = where.parent / name
    try:
        return _refuse_mark(file, file.read_text("utf-8"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise TaskError(_format_missing(where, name, key)) from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{file}: this is not a text in UTF-8: {error}. Try: save it as UTF-8") from error


def _check_evaluator(where: Path, source: EvaluatorSource) -> EvaluatorSource:
    if source.path is not None and not (where.parent / source.path).is_file():
        raise TaskError(_format_missing(where, source.path, "evaluator"))
    return source


def _read_verifier(where: Path, name: str | None) -> str:
    """Returns the text of the script that checks certificates; empty where a task has none."""
    if name is None:
        return ""
    text = _read_text(where, name, "verifier")
    check_verifier(where.parent / name, text)
    return text


def _format_missing(where: Path, name: str, key: str) -> str:
    present = [path.name for path in where.parent.iterdir() if path.is_file() and path.name != where.name]
    return f"{where}: {key}: there is no file {name!r}.{did_you_mean(name, present)} Try: write it, or name another"


def _make_stage(where: Path, table: StageTable, granted: int) -> Stage:
    gpus = granted if table.needs.gpus is None else table.needs.gpus
    if gpus > granted:
        raise TaskError(
            f"{where}: stage {table.name!r} needs {gpus} GPUs, and `sandbox.gpu` grants its programs {granted}. Try: set gpu = {gpus} in [sandbox]"
        )
    needs, wanted = Needs(table.needs.cores, gpus, table.needs.exclusive, table.needs.pinned), table.threshold
    if isinstance(wanted, str):
        return Stage(table.name, table.seconds, top=top_share(wanted), needs=needs)
    return Stage(table.name, table.seconds, threshold=wanted, needs=needs)


def _make_cases(
    where: Path, declared: Cases, parameters: Mapping[str, Scalar], *, weighted: bool = False
) -> tuple[Case, ...]:
    """Returns cases by name; `n = [29, 32]` makes the cases `n=29` and `n=32`. Each value is of its parameter's type."""
    weights: Sequence[float] = ()
    if isinstance(declared, list):
        tables = [dict(table) for table in declared]
        names = [str(table.pop("name")) for table in tables]
        weights = [float(table.pop("weight", 1.0)) for table in tables] if weighted else ()
    else:
        tables = (
            [dict(zip(declared, values, strict=True)) for values in itertools.product(*declared.values())]
            if declared
            else []
        )
        names = [", ".join(f"{key}={value}" for key, value in table.items()) for table in tables]
    if len(set(names)) < len(names) or (declared and not names):
        raise TaskError(
            f"{where}: cases are at least one, each with values of its own, got {', '.join(names) or 'none'}. Try: take out what is there twice"
        )
    return tuple(
        Case(name, _set_parameters(where, parameters, table), weight)
        for name, table, weight in zip(names, tables, weights or [1.0] * len(names), strict=True)
    )


def _find_interpreter(folder: Path, written: str) -> str:
    """Returns the interpreter that a task names, as an absolute path where it can be found; a missing one is an error when a worker starts."""
    # A link stays a link, for it makes a virtual environment what it is.
    expanded = Path(os.path.expandvars(written)).expanduser()
    if len(expanded.parts) == 1:
        return shutil.which(written) or written
    return str(folder / expanded)


def _set_parameters(where: Path, declared: Mapping[str, Scalar], given: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Returns the declared parameters with the given ones in their place, each of the type that it was declared with."""
    chosen = dict(declared)
    for name, value in given.items():
        if name not in declared:
            raise TaskError(
                f"{where}: the task has no parameter {name!r}.{did_you_mean(name, declared)} {_suggest(declared)}"
            )
        chosen[name] = _convert(name, declared[name], value)
    return chosen


def _suggest(declared: Mapping[str, Scalar]) -> str:
    if not declared:
        return "Try: leave it out, the task has no parameters"
    return f"Try: set one of {', '.join(declared)}, or declare it in [parameters]"


def _convert(name: str, declared: Scalar, value: Scalar) -> Scalar:
    # `--set points=1` and `points=1.0` are one task: the version covers parameters, with their types.
    if isinstance(declared, float) and type(value) is int:
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise TaskError(f"parameter {name!r} is a finite number, got {value}. Try: set it to one")
    if type(value) is not type(declared):
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[type(declared)]
        raise TaskError(
            f"parameter {name!r} is {kind} (the task has {declared!r}), got {value!r}. Try: set it to {kind}"
        )
    return value
