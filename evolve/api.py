"""`evolve.run` and `evolve.Task`: campaigns and tasks from Python, with the options of the command line."""

import ast
import builtins
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import tomli_w

import evolve.task
from evolve.campaign import workspace as default_workspace
from evolve.cli.run import open_models, open_request, search
from evolve.engine import open_run
from evolve.report import RecordLine
from evolve.report.reading import Campaign
from evolve.run_options import RunOptions
from evolve.task.folders import write_folder
from evolve.types import ConfigError, TaskError

_CONSTANTS = (int, float, complex, str, bytes, bool, type(None))


_NAME = re.compile(r"\w[\w-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class PythonTask:
    """Task that Python made: a folder, which `evolve run` and `evolve.run` take alike."""

    path: Path

    @classmethod
    def make(
        cls,
        name: str,
        *,
        brief: str,
        program: str | Callable[..., Any] | Mapping[str, str],
        evaluator: Path | str | Callable[..., Any],
        folder: str | Path | None = None,
        replace: bool = False,
        **settings: Any,
    ) -> "PythonTask":
        """Writes a task to `tasks/NAME`, or to `folder`, and returns it; a task that says the same stays as it is.

        `brief` says in words what is wanted. `program` is the seed: its source, a function, or files by their paths. `evaluator` is a file, its source,
        or a function `(candidate, trial) -> Evaluation`; a function brings along the modules, constants and functions that it uses. `settings` are keys of `task.toml`,
        such as `deterministic=True` or `fitness={"direction": "min"}`. Raises `TaskError`, also where another task is there and `replace` is false.
        """
        if not _NAME.fullmatch(name):
            raise TaskError(
                f"a task is called {name!r}, wanted letters, digits, `_` and `-`. Try: name='my_task', and folder= where it lies elsewhere"
            )
        files = {"seed.py": source_of(program)} if not isinstance(program, Mapping) else dict(program)
        for path, text in files.items():
            _check_syntax(path, text)
        keys = {"schema": 1, "brief": "brief.md", "evaluator": "evaluator.py", **settings}
        keys["program"] = {"files": list(files), **_entry(files), **settings.get("program", {})}
        files |= {"task.toml": tomli_w.dumps(keys), "brief.md": f"{brief.strip()}\n"}
        files["evaluator.py"] = _evaluator_source(evaluator)
        target = Path(folder) if folder is not None else Path("tasks") / name
        # A script that runs again finds its task as it left it, so that its campaigns go on with the same version.
        if _texts_of(target) != files:
            _write(target, files, replace=replace)
        return cls(target.resolve())

    @property
    def name(self) -> str:
        """The name of the task."""
        return self.path.name


def run(  # noqa: PLR0913 each is an option of the command line
    task: str | Path | PythonTask | None = None,
    *,
    budget: str | Sequence[str] = (),
    model: str | Sequence[str] = (),
    preset: str | None = None,
    strategy: str | None = None,
    seed: int | None = None,
    workers: int | None = None,
    name: str | None = None,
    resume: str | None = None,
    settings: Mapping[str, Any] | None = None,
    trackers: Sequence[str] = (),
    deterministic: bool = False,
    sandbox: str | None = None,
    devices: Sequence[str] = (),
    workspace: str | Path | None = None,
    on_record: Callable[[RecordLine], object] | None = None,
    progress: bool = True,
) -> Campaign:
    """Runs a campaign to its end, as `evolve run` does, and returns it, open for reading.

    `task` is a name, a path or an `evolve.Task`. `budget` is one text, or several of which the first that is spent ends the campaign; `model` one or several models
    as `--model` takes them. `preset` names settings to begin with. `settings` are the values of a campaign file. `resume` names a campaign that goes on; `workspace` is the folder with `archive/`,
    where it is not that of the command line. `on_record` is called with each record when it is durable; `progress` prints lines about the campaign.

    An interrupt (Ctrl-C, or a notebook's stop button) ends the run when what is being evaluated has ended, and the campaign is returned; a second one raises
    `KeyboardInterrupt`. Raises `EvolveError`.
    """
    if not isinstance(resume, str | None):
        raise ConfigError(f"resume is {resume!r}, wanted the name of a campaign. Try: resume='circle_packing'")
    options = RunOptions(
        task=None if task is None else str(task.path if isinstance(task, PythonTask) else task),
        resume=resume,
        name=name,
        budget=_texts(budget, "budget", "60s"),
        seed=seed,
        preset=preset,
        strategy=strategy,
        workers=workers,
        deterministic=deterministic,
        sandbox=sandbox,
        models=_texts(model, "model", "gpt-5-mini"),
        devices=_texts(devices, "devices", "cpu:0-3"),
        trackers=_texts(trackers, "trackers", "jsonl"),
        settings=settings,
    )
    home = default_workspace() if workspace is None else Path(workspace)
    with ExitStack() as resources:
        if options.devices and hasattr(os, "sched_getaffinity"):
            # The cores of a notebook's process are its own again afterwards.
            resources.callback(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        opened = resources.enter_context(open_run(resources.enter_context(open_request(options, home)), open_models))
        search(opened, quiet=not progress, on_record=on_record)
        log = opened.campaign.log.path
    return Campaign.open(log, home)


def _check_syntax(path: str, text: str) -> None:
    """Raises `TaskError` for a Python file that is none."""
    try:
        if path.endswith(".py"):
            ast.parse(text)
    except SyntaxError as error:
        raise TaskError(f"{path}, line {error.lineno}: {error.msg}. Try: mend the program") from None


def _texts(value: object, name: str, example: str) -> tuple[str, ...]:
    """Returns an argument that is one text or several; raises `ConfigError` for anything else."""
    found = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Sequence) else (value,)
    if not all(isinstance(each, str) for each in found):
        raise ConfigError(f"{name} is {value!r}, wanted a text, or several. Try: {name}={example!r}")
    return found


def _entry(files: Mapping[str, str]) -> dict[str, str]:
    """Returns the module that an evaluator calls: `seed`, else the first Python file; none where a program has no Python."""
    modules = [path.removesuffix(".py").replace("/", ".") for path in files if path.endswith(".py")]
    return {"entry": "seed" if "seed" in modules else next(iter(modules), "")}


def _texts_of(folder: Path) -> dict[str, str]:
    """Returns the files of a folder by their paths, as far as they are texts; empty where there is none."""
    paths = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8", "replace") for path in paths}


def _write(target: Path, files: Mapping[str, str], *, replace: bool) -> None:
    """Writes a task whole, when it loads, or not at all."""
    if target.exists() and not replace:
        raise TaskError(
            f"there is another task at {str(target)!r}. Try: choose another name or folder, or give replace=True"
        )
    with write_folder(target, replace=replace) as made:
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, "utf-8")
        try:
            evolve.task.load(made)
        except TaskError as error:
            raise TaskError(str(error).replace(str(made), str(target))) from None


def _evaluator_source(evaluator: Path | str | Callable[..., Any]) -> str:
    if isinstance(evaluator, Path):
        try:
            return evaluator.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise TaskError(f"the evaluator {str(evaluator)!r} cannot be read: {error}. Try: check the path") from error
    if isinstance(evaluator, str):
        return textwrap.dedent(evaluator)
    function = source_of(evaluator)
    name = evaluator.__name__
    return f"import evolve\n\n{function}\n\n{name} = evolve.evaluator({name})\n"


def source_of(program: str | Callable[..., Any]) -> str:
    """Returns a module's source: a text as it is, and a function with everything of its module that it uses. Raises `TaskError` for a function without source, or
    one that uses a value that no source text makes."""
    if isinstance(program, str):
        return textwrap.dedent(program)
    return "\n\n".join(_Extraction().source(program)) + "\n"


class _Extraction:
    """The parts of a module that a function needs, in an order in which they can run."""

    def __init__(self) -> None:
        self._imports: list[str] = []
        self._parts: list[str] = []
        self._seen: set[str] = set()

    def source(self, function: Callable[..., Any]) -> Iterator[str]:
        """Yields the imports, then constants and functions, the given one last."""
        self._add(function)
        if self._imports:
            yield "\n".join(sorted(self._imports))
        yield from self._parts

    def _add(self, function: Callable[..., Any]) -> None:
        if not isinstance(function, FunctionType) or function.__closure__:
            raise TaskError(
                f"{function!r} is no plain function of a module. Try: give a function without a closure, or its source as a text"
            )
        self._seen.add(function.__name__)
        try:
            text = textwrap.dedent(inspect.getsource(function))
            tree = ast.parse(text)
        except (OSError, SyntaxError):
            raise TaskError(
                f"the source of {function.__name__!r} is not known. Try: define it in a file, or give its source as a text"
            ) from None
        for name in sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - self._seen):
            if name in function.__globals__:
                self._seen.add(name)
                self._bring(name, function.__globals__[name], function)
        self._parts.append(text)

    def _bring(self, name: str, value: Any, user: FunctionType) -> None:
        """Adds the import or the definition of a global name."""
        if isinstance(value, FunctionType) and value.__module__ == user.__module__:
            self._add(value)
        elif line := _import_of(name, value, user.__module__):
            self._imports.append(line)
        elif _is_constant(value):
            self._parts.append(f"{name} = {value!r}")
        elif not hasattr(builtins, name):
            raise TaskError(
                f"{user.__name__!r} uses {name!r}, a {type(value).__name__} that no source text makes. Try: make it inside the function, or give a file"
            )


def _import_of(name: str, value: Any, own: str) -> str:
    """Returns the line that imports a module, or a value of another module than `own`; empty where there is none."""
    if isinstance(value, ModuleType):
        module, kind = "", value.__name__
    elif name in evolve.__all__ and getattr(evolve, name) is value:
        module, kind = "evolve", name
    else:
        module, kind = getattr(value, "__module__", None) or own, getattr(value, "__qualname__", "")
        if module == own or getattr(sys.modules.get(module), kind, None) is not value:
            return ""
    start = f"from {module} import {kind}" if module else f"import {kind}"
    return start if kind == name else f"{start} as {name}"


def _is_constant(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_constant, (*value, *value.values())))
    if isinstance(value, list | tuple | set):
        return all(map(_is_constant, value))
    return isinstance(value, _CONSTANTS)
