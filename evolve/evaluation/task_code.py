"""A task's own Python: its files as modules, and calls of its functions, which may raise anything.

The worker's one broad `except` is in `attempt`; what it catches is reported with its traceback, never dropped."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TypeVar

from evolve.sandbox.status import SessionFailed
from evolve.types import EvolveError, TaskError, UnusableFitness

T = TypeVar("T")
_OURS = str(Path(__file__).parent)
_SHOWN, _LINE = 4000, 240
"""Characters of a traceback, and of a line."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Exception that a call raised."""

    error: BaseException

    @property
    def line(self) -> str:
        """The error as one line: `ValueError: message`. One that cannot be said, such as a number of too many digits, is named alone."""
        said = attempt(lambda: str(self.error))
        return " ".join(f"{type(self.error).__name__}: {'' if isinstance(said, Raised) else said}".split())

    def within(self, path: Path) -> str:
        """The line, no longer than can be read at once, and where in a file, or in one beside it, it was raised."""
        folder = f"{path.parent}/"
        frames = [one for one in traceback.extract_tb(self.error.__traceback__) if one.filename.startswith(folder)]
        if not frames:
            return self.line[:_LINE]
        last = frames[-1]
        other = "" if last.filename == str(path) else f"{last.filename[len(folder) :]}, "
        return f"{self.line[:_LINE]} ({other}line {last.lineno})"

    @property
    def trace(self) -> str:
        """The traceback from where the task's code begins; of a long one, its end."""
        error, place = self.error, _theirs(self.error.__traceback__)
        return "".join(traceback.format_exception(type(error), error, place)).strip()[-_SHOWN:]


def attempt(call: Callable[[], T]) -> T | Raised:
    """`call()`, or what it raised. A `sys.exit` in a task's code is an error like any other."""
    try:
        return call()
    except (Exception, SystemExit) as error:  # noqa: BLE001 a task's code may raise anything
        return Raised(error)


def _theirs(place: TracebackType | None) -> TracebackType | None:
    """The traceback without the leading frames of the worker itself."""
    first = place
    while place is not None and place.tb_frame.f_code.co_filename.startswith(_OURS):
        place = place.tb_next
    return place or first


_NOT_THE_MODULES = (EvolveError, SessionFailed, UnusableFitness)
"""What says by itself whose fault it is."""


class TaskCodeError(TaskError):
    """A task's own code raised: `said` tells what and where, `raised` is what it was. Both together have the remedy and the traceback."""

    def __init__(self, said: str, raised: Raised) -> None:
        super().__init__(f"{said}. Try: mend it")
        self.said = said
        self.raised = raised


class TaskModule:
    """A file of a task's folder with functions that an evaluator calls; made by `task_module`, for one task in a process."""

    def __init__(self, path: Path, module: ModuleType) -> None:
        self.path = path
        self._module = module

    def has(self, name: str) -> bool:
        """Returns whether the file defines a name."""
        return hasattr(self._module, name)

    def value(self, name: str, default: Any = None) -> Any:
        """Returns a function or constant of the file by its name, unchecked; `default` where there is none."""
        return getattr(self._module, name, default)

    def call(self, function: str, *arguments: Any, told: str = "") -> Any:
        """Calls a function of the file and returns its answer. An exception becomes a `TaskError` with the line and what is `told` of the arguments; a
        failure of the candidate, a fitness that is none, and an `EvolveError` stay what they are."""
        answer = attempt(lambda: getattr(self._module, function)(*arguments))
        if not isinstance(answer, Raised):
            return answer
        if isinstance(answer.error, _NOT_THE_MODULES):
            raise answer.error
        raise TaskCodeError(
            f"{self.path}: {function}() raised {answer.within(self.path)}{told}", answer
        ) from answer.error

    def broken(self, function: str, got: Any, wanted: str) -> TaskError:
        """The error that a function has returned `got`, where something else is `wanted`; of an array the type and shape are told."""
        is_array = hasattr(got, "dtype") and hasattr(got, "shape")
        told = f"{got.dtype}{got.shape}" if is_array else " ".join(repr(got).split())
        return TaskError(f"{self.path}: {function}() returned {told:.80}. Try: return {wanted}")


def task_module(
    folder: str | Path,
    file: str,
    needed: Mapping[str, str],
    optional: Mapping[str, str] | None = None,
    *,
    setting: str = "evaluator.module",
) -> TaskModule:
    """A file of a task's folder, executed; it may import its neighbours, and may be a link.

    `needed` and `optional` map its functions to their arguments: `{"check": "(instance, answer)"}`. Raises `TaskError` where the folder has no such file
    (and names the `setting`), where the file raises, and where a function is missing or takes something else."""
    path = Path(folder).absolute() / file
    if Path(file).is_absolute() or ".." in Path(file).parts or not path.is_file():
        raise TaskError(f"{Path(folder)}: {setting}: there is no file {file!r}. Try: write it, or name another")
    made = attempt(lambda: execute_file(path))
    if isinstance(made, Raised):
        if isinstance(made.error, EvolveError):
            raise made.error
        raise TaskCodeError(f"{path}: this cannot be imported: {made.within(path)}", made) from made.error
    module = TaskModule(path, made)
    for function, arguments in needed.items():
        _check(module, function, arguments)
    for function, arguments in (optional or {}).items():
        if module.has(function):
            _check(module, function, arguments)
    return module


def _check(module: TaskModule, function: str, arguments: str) -> None:
    """Raises `TaskError` where a module has no such function, or one that does not take these arguments."""
    found = module.value(function)
    if not callable(found):
        raise TaskError(f"{module.path}: there is no function {function}{arguments}. Try: write it")
    try:
        signature = inspect.signature(found)
    except ValueError:  # some of those that are written in C have none
        return
    try:
        signature.bind(*(name for name in arguments.strip("()").split(",") if name.strip()))
    except TypeError:
        raise TaskError(
            f"{module.path}: {function}{signature} cannot be called with {arguments}. Try: write {function}{arguments}"
        ) from None


def execute_file(path: Path, *, neighbours: bool = True) -> ModuleType:
    """The file as a new module, which may import its `neighbours`; raises what it raises, and `TaskError` where it is no Python file."""
    spec = importlib.util.spec_from_file_location(f"evolve_task_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise TaskError(f"{path}: this is no Python file. Try: name one that ends in .py")
    folder = str(path.parent)
    if neighbours and sys.path[:1] != [folder]:
        sys.path.insert(0, folder)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickled helpers of the file look themselves up among the modules while it is executed.
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(spec.name, None)
        raise
    return module
