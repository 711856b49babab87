"""Reads a task's folder, or its one file, into a `Task`, and names its version.

Invariant: two tasks with the same version judge every program alike: the version covers `task.toml` and every other file of the folder
but READMEs, or the one file, and the parameters."""

import itertools
import math
import os
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolve import prompts
from evolve.evaluation.version import task_version
from evolve.task import one_file, verifier
from evolve.task.folders import TASK_FILE, find, name_of
from evolve.task.grants import make_limits
from evolve.task.schema import CheckTable, StageTable, TaskFile, parse
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
from evolve.types.suggest import did_you_mean


def load(reference: str | Path, parameters: Mapping[str, Scalar] | None = None) -> Task:
    """The task that `reference` names (see `find`), with some of its parameters set otherwise. Raises `TaskError`."""
    place = find(reference)
    try:
        read = _from_file if place.suffix == ".py" and place.is_file() else _from_folder
        return read(place, parameters or {})
    except OSError as error:
        raise TaskError(f"{place}: the task cannot be read: {error}. Do: make its files readable") from error


@dataclass(frozen=True, slots=True)
class _Found:
    """What a task file names, as it was found. `where` is the file with the keys; `one_file` its name where it is the whole task, and `task_file`
    where it is a further one of its folder."""

    where: Path
    name: str
    parameters: Mapping[str, Scalar]
    brief: str
    seed: Program
    evaluator: EvaluatorSource
    context: Mapping[str, str] = field(default_factory=dict)
    one_file: str = ""
    task_file: str = ""
    verifier: str = ""


def _from_folder(place: Path, given: Mapping[str, Scalar]) -> Task:
    """From a folder with its own task file, or from a further task file."""
    where = place if place.is_file() else place / TASK_FILE
    file = _parsed(where, _toml(where))
    found = _Found(
        where,
        name_of(place),
        _chosen(where, file.parameters, given),
        brief=_text(where, file.brief, "brief"),
        seed=Program({name: _text(where, name, "program.files") for name in file.program.files}),
        evaluator=_evaluator(where, file.evaluator),
        context={name: _text(where, name, "program.context") for name in file.program.context},
        task_file="" if where.name == TASK_FILE else where.name,
        verifier=_verifier(where, file.verifier),
    )
    return _task(found, file)


def _from_file(where: Path, given: Mapping[str, Scalar]) -> Task:
    parts = one_file.read(where)
    file = _parsed(where, parts.settings)
    found = _Found(
        where,
        name_of(where),
        _chosen(where, file.parameters, given),
        parts.brief,
        Program({one_file.SEED: parts.seed}),
        EvaluatorSource(path=where.name),
        one_file=where.name,
    )
    return _task(found, file)


def _task(found: _Found, file: TaskFile) -> Task:
    where, folder, chosen = found.where, found.where.parent, found.parameters
    return Task(
        name=found.name,
        folder=str(folder),
        version=task_version(folder, chosen, found.one_file, file.prompts or "", found.task_file),
        brief=found.brief,
        seed=found.seed,
        entry=file.program.entry,
        evaluator=found.evaluator,
        deterministic=file.deterministic,
        promotion=file.promotion,
        fitness=Fitness(**file.fitness.model_dump()),
        parameters=chosen,
        stages=tuple(_stage(where, table, file.sandbox.gpu) for table in file.stages),
        axes=tuple(Axis(**table.model_dump()) for table in file.axes),
        anchors=tuple(Anchor(**table.model_dump()) for table in file.anchors),
        bound=file.bound.value if file.bound else None,
        limits=make_limits(file.sandbox, folder),
        context=found.context,
        new_files=tuple(file.program.new_files),
        objectives=tuple(Objective(**table.model_dump()) for table in file.objectives),
        constraints=tuple(Constraint(**table.model_dump()) for table in file.constraints),
        held_out=_cases(where, file, chosen),
        carry=tuple(file.carry.artifacts) if file.carry else (),
        python=_interpreter(folder, file.environment.python) if file.environment else "",
        one_file=found.one_file,
        task_file=found.task_file,
        prompts=_prompts(where, file.prompts),
        prompts_folder=file.prompts or "",
        novelty_distance=file.novelty.distance,
        check=_check(file.check),
        verifier=found.verifier,
    )


def _check(table: CheckTable) -> Check:
    return Check(table.answers, table.precision, tuple(table.honest), tuple(table.dishonest))


def _prompts(where: Path, folder: str | None) -> Mapping[str, str]:
    """The templates that a task brings, by name."""
    if folder is None:
        return {}
    try:
        return prompts.from_folder(where.parent / folder)
    except ConfigError as error:
        raise TaskError(f"{where}: prompts: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_without_mark(path, path.read_text("utf-8")))
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: this is not TOML: {error}. Do: mend that line") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{path}: this is not a text in UTF-8: {error}. Do: save it as UTF-8") from error


def _parsed(where: Path, keys: Mapping[str, Any]) -> TaskFile:
    try:
        return parse(keys)
    except ValueError as error:
        raise TaskError(f"{where}: {error}") from error


def _without_mark(path: Path, text: str) -> str:
    """The text; raises `TaskError` where it begins with a byte order mark, which some editors write and which no reader of it expects."""
    if text.startswith("\ufeff"):
        raise TaskError(f"{path}: this begins with a byte order mark (BOM). Do: save it as UTF-8 without one")
    return text


def _text(where: Path, name: str, key: str) -> str:
    """What the file `name` beside the task file holds."""
    file = where.parent / name
    try:
        return _without_mark(file, file.read_text("utf-8"))
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise TaskError(_missing(where, name, key)) from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{file}: this is not a text in UTF-8: {error}. Do: save it as UTF-8") from error


def _evaluator(where: Path, source: EvaluatorSource) -> EvaluatorSource:
    if source.path is not None and not (where.parent / source.path).is_file():
        raise TaskError(_missing(where, source.path, "evaluator"))
    return source


def _verifier(where: Path, name: str | None) -> str:
    """The text of the script that checks certificates; empty where a task has none."""
    if name is None:
        return ""
    text = _text(where, name, "verifier")
    verifier.check(where.parent / name, text)
    return text


def _missing(where: Path, name: str, key: str) -> str:
    present = [path.name for path in where.parent.iterdir() if path.is_file() and path.name != where.name]
    return f"{where}: {key}: there is no file {name!r}.{did_you_mean(name, present)} Do: write it, or name another"


def _stage(where: Path, table: StageTable, granted: int) -> Stage:
    gpus = granted if table.needs.gpus is None else table.needs.gpus
    if gpus > granted:
        raise TaskError(
            f"{where}: stage {table.name!r} needs {gpus} GPUs, and `sandbox.gpu` grants its programs {granted}. Do: set gpu = {gpus} in [sandbox]"
        )
    needs, wanted = Needs(table.needs.cores, gpus, table.needs.exclusive, table.needs.pinned), table.threshold
    if isinstance(wanted, str):
        return Stage(table.name, table.seconds, top=top_share(wanted), needs=needs)
    return Stage(table.name, table.seconds, threshold=wanted, needs=needs)


def _cases(where: Path, file: TaskFile, chosen: Mapping[str, Scalar]) -> tuple[Case, ...]:
    """The held-out cases by name; `n = [29, 32]` makes the cases `n=29` and `n=32`. Each value is of its parameter's type."""
    declared = file.held_out
    if isinstance(declared, list):
        tables = [{key: value for key, value in table.items() if key != "name"} for table in declared]
        names = [str(table["name"]) for table in declared]
    else:
        tables = (
            [dict(zip(declared, values, strict=True)) for values in itertools.product(*declared.values())]
            if declared
            else []
        )
        names = [", ".join(f"{key}={value}" for key, value in table.items()) for table in tables]
    return tuple(Case(name, _chosen(where, chosen, table)) for name, table in zip(names, tables, strict=True))


def _interpreter(folder: Path, written: str) -> str:
    """The interpreter that a task names, as an absolute path where it can be found; a link stays a link, for it makes a virtual
    environment what it is. What is not there is said when a judge starts."""
    expanded = Path(os.path.expandvars(written)).expanduser()
    if len(expanded.parts) == 1:
        return shutil.which(written) or written
    return str(folder / expanded)


def _chosen(where: Path, declared: Mapping[str, Scalar], given: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The declared parameters with the given ones in their place, each of the type that it was declared with."""
    chosen = dict(declared)
    for name, value in given.items():
        if name not in declared:
            raise TaskError(
                f"{where}: the task has no parameter {name!r}.{did_you_mean(name, declared)} {_settable(declared)}"
            )
        chosen[name] = _alike(name, declared[name], value)
    return chosen


def _settable(declared: Mapping[str, Scalar]) -> str:
    if not declared:
        return "Do: leave it out, the task has no parameters"
    return f"Do: set one of {', '.join(declared)}, or declare it in [parameters]"


def _alike(name: str, declared: Scalar, value: Scalar) -> Scalar:
    if isinstance(declared, float) and type(value) is int:
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise TaskError(f"parameter {name!r} is a finite number, got {value}. Do: set it to one")
    if type(value) is not type(declared):
        kind = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[type(declared)]
        raise TaskError(
            f"parameter {name!r} is {kind} (the task has {declared!r}), got {value!r}. Do: set it to {kind}"
        )
    return value
