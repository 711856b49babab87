"""The Python files of a task's folder that evaluators are made of.

Invariant: a file is executed by this module alone; one that lacks something, or whose code raises, ends in a `TaskError` that names the file and the line."""

import importlib.util
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from evolve.judge.attempt import Raised, attempt
from evolve.types import EvolveError, TaskError


class TaskModule:
    """A file of a task's folder with functions that an evaluator calls; made by `task_module`."""

    def __init__(self, path: Path, module: ModuleType) -> None:
        self.path = path
        self._module = module

    def has(self, name: str) -> bool:
        """Whether the file defines a function or a constant of this name."""
        return hasattr(self._module, name)

    def constant(self, name: str, default: Any = None) -> Any:
        """The value of a name of the file, unchecked; `default` where there is none."""
        return getattr(self._module, name, default)

    def call(self, function: str, *arguments: Any, told: str = "") -> Any:
        """What a function of the file answers. What it raises becomes a `TaskError` with the line and what is `told` of the arguments; an `EvolveError` stays as it is."""
        answer = attempt(lambda: getattr(self._module, function)(*arguments))
        if isinstance(answer, Raised):
            raise _failed(answer, f"{self.path}: {function}() raised {answer.within(self.path)}{told}")
        return answer

    def check(self, function: str, arguments: str) -> None:
        """Raises `TaskError` where the file has no such function, or one that does not take `arguments`, such as `"(instance, answer)"`."""
        found = self.constant(function)
        if not callable(found):
            raise TaskError(f"{self.path}: there is no function {function}{arguments}. Do: write it")
        signature = inspect.signature(found)
        try:
            signature.bind(*arguments.split(","))
        except TypeError:
            raise TaskError(
                f"{self.path}: {function}{signature} takes something else. Do: write {function}{arguments}"
            ) from None


def task_module(
    folder: str | Path,
    file: str,
    needed: Mapping[str, str],
    optional: Mapping[str, str] | None = None,
    *,
    setting: str = "evaluator.module",
) -> TaskModule:
    """A file of a task's folder, executed; it may import its neighbours.

    `needed` and `optional` map its functions to their arguments: `{"check": "(instance, answer)"}`. Raises `TaskError` where there is no such file in the folder
    (and names the `setting`), where it raises, or where a function is missing or takes something else; and `ModuleNotFoundError` where it imports what is not installed."""
    path = Path(folder) / file
    if not path.is_file() or not path.resolve().is_relative_to(Path(folder).resolve()):
        raise TaskError(f"{folder}: {setting}: there is no file {file!r}. Do: write it, or name another")
    made = attempt(lambda: executed(path))
    if isinstance(made, Raised):
        if isinstance(made.error, ModuleNotFoundError):
            raise made.error
        raise _failed(made, f"{path}: this cannot be imported: {made.within(path)}")
    module = TaskModule(path, made)
    for function, arguments in needed.items():
        module.check(function, arguments)
    for function, arguments in (optional or {}).items():
        if module.has(function):
            module.check(function, arguments)
    return module


def executed(path: Path, *, neighbours: bool = True) -> ModuleType:
    """The file as a new module, which may import its neighbours; raises what it raises, and `TaskError` where it is no Python file."""
    spec = importlib.util.spec_from_file_location(f"evolve_task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TaskError(f"{path}: this is no Python file. Do: name one that ends in .py")
    if neighbours and str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _failed(raised: Raised, said: str) -> EvolveError:
    if isinstance(raised.error, EvolveError):
        return raised.error
    error = TaskError(f"{said}. Do: mend it")
    error.__cause__ = raised.error
    return error
