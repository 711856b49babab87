"""Whether a plugin keeps the contract: it loads, and all that it registers passes the suites of `evolve.testing`.

Invariant: whatever a plugin does or raises is a finding about it, and the next check runs all the same."""

import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeGuard

import click
import pluggy
from pydantic import BaseModel

from evolve import testing
from evolve.cli import COMMANDS
from evolve.cli.plugin_commands import ENTRY_POINTS, import_name, load_command
from evolve.hookspecs import ModelEntry
from evolve.plugins import BUNDLED, Plugins, Registered, guarded, load
from evolve.types import ConfigError, EvaluatorSource, EvolveError, Program

Verdict = Literal["passed", "failed", "skipped"]
Settings = Mapping[str, Any]

PROGRAMS = (
    Program({"seed.py": "def value():\n    return 5.0\n"}),
    Program(
        {
            "seed.py": "def f(x, n=3):\n    total = 0\n    for i in range(n):\n        total += 0.5 * x + i\n    return total\n"
        }
    ),
    Program(
        {
            "seed.py": "RATES = [0.1, 0.25, 4]\n\n\ndef pick(k):\n    return RATES[k] if k < 3 else -1\n",
            "more.py": "LIMIT = 20\n",
        }
    ),
    Program({"main.c": '#include <stdio.h>\nint main(void) { double a = 1.5; printf("%f", a * 7); return 0; }\n'}),
)
"""What an operator is given; it must find something to change in one of them at least."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. `about` is the plugin itself or what it registers; `trace` is where its code raised."""

    plugin: str
    about: str
    check: str
    verdict: Verdict
    message: str = ""
    trace: str = ""


def findings(points: Sequence[EntryPoint], bundled: Sequence[str] = ()) -> Iterator[Finding]:
    """All that there is to say of some installed plugins, and of bundled ones, each loaded without the others."""
    for name in bundled:
        yield from _loaded(name, load(()))
    for point in points:
        yield from _installed(point)
    yield from _shared(points)


def _installed(point: EntryPoint) -> Iterator[Finding]:
    try:
        plugins = load((point,))
    except EvolveError as error:
        yield Finding(point.name, "the plugin", "loads", "failed", str(error), _trace(error))
        return
    yield Finding(point.name, "the plugin", "loads", "passed")
    yield from _loaded(point.name, plugins)
    for command in _commands(point):
        yield _verdict(point.name, f"command {command.name}", "is a click command", partial(_check_command, command))


def _loaded(plugin: str, plugins: Plugins) -> Iterator[Finding]:
    """Of every evaluator, operator, strategy and kind of model that a plugin registers, and of its hook. No model is made: it may want a key, or start a server."""
    for name, found in _of(plugin, plugins.evaluators):
        yield from _entry(found, "evaluator", partial(_check_evaluator, plugins, name))
    for name, found in _of(plugin, plugins.operators):
        yield from _entry(found, "operator", partial(_check_operator, plugins, name))
    for name, found in _of(plugin, plugins.strategies):
        yield from _entry(found, "strategy", partial(_check_strategy, plugins, name))
    for name, found in _of(plugin, plugins.trackers):
        yield from _entry(found, "tracker", partial(_check_tracker, plugins, name))
    for name, found in _of(plugin, plugins.models):
        about, settings = f"kind of model {name}", found.entry.settings
        yield _verdict(plugin, about, "its settings forbid unknown keys", partial(_check_settings, settings))
        yield _verdict(plugin, about, "its argument is a setting", partial(_check_argument, found.entry))
    for hook in plugins.manager.hook.screen_program.get_hookimpls():
        if hook.plugin_name == plugin:
            about, check = "hook screen_program", "gives a reason or None, the same again"
            yield _verdict(plugin, about, check, partial(_check_screen, hook))


def _check_evaluator(plugins: Plugins, name: str, settings: Settings) -> None:
    testing.check_evaluator(lambda: plugins.evaluator(EvaluatorSource(plugin=name, settings=settings)))


def _check_operator(plugins: Plugins, name: str, settings: Settings) -> None:
    """One that needs a model is given replies that are none: what a good reply to it looks like is known to its author alone."""
    entry = plugins.operators[name].entry
    if entry.needs_model:
        testing.check_model_operator(lambda: plugins.operator(name, settings), PROGRAMS, traits=entry.traits)
    else:
        testing.check_operator(lambda: plugins.operator(name, settings), PROGRAMS)


def _check_strategy(plugins: Plugins, name: str, settings: Settings) -> None:
    testing.check_strategy(lambda operators: plugins.strategy(name, settings, operators))


def _check_tracker(plugins: Plugins, name: str, settings: Settings) -> None:
    """Of a campaign whose log would lie in a folder that is gone afterwards. What it prints is none of the findings, and goes to stderr."""
    with TemporaryDirectory(prefix="evolve-tracker-") as folder, redirect_stdout(sys.stderr):
        testing.check_tracker(lambda: plugins.tracker(name, settings), Path(folder))


def _check_command(point: EntryPoint) -> None:
    load_command(point)
    group, dot, _ = point.name.rpartition(".")
    groups = (
        [name for name, (place, _) in COMMANDS.items() if isinstance(import_name(place), click.Group)] if dot else []
    )
    assert not dot or group in groups, f"evolve has no group {group!r}. Do: name one of {', '.join(groups)}"


def _commands(point: EntryPoint) -> list[EntryPoint]:
    """The commands that the plugin's package brings."""
    package = point.dist.name if point.dist else ""
    return [command for command in entry_points(group=ENTRY_POINTS) if command.dist and command.dist.name == package]


def _of(plugin: str, entries: Mapping[str, Registered[Any]]) -> list[tuple[str, Registered[Any]]]:
    return [(name, found) for name, found in entries.items() if found.plugin == plugin]


def _entry(found: Registered[Any], kind: str, suite: Callable[[Settings], None]) -> Iterator[Finding]:
    """Of one entry: its settings, and its suite with the settings that a person would leave alone."""
    about, model = f"{kind} {found.entry.name}", found.entry.settings
    yield _verdict(found.plugin, about, "its settings forbid unknown keys", partial(_check_settings, model))
    check = f"keeps the promises of {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    given, missing = _examples(model)
    if missing:
        message = f"its settings need a value for {', '.join(missing)}. Do: give each an example, Field(examples=[...]); one that names a file of a task is tried by `evolve task check`"
        yield Finding(found.plugin, about, check, "skipped", message)
    else:
        yield _verdict(found.plugin, about, check, partial(suite, given))


def _verdict(plugin: str, about: str, check: str, run: Callable[[], None]) -> Finding:
    """A check that passes, or what it says otherwise. A broken promise is an `AssertionError`."""

    def broken() -> AssertionError | None:
        try:
            run()
        except AssertionError as error:
            return error
        return None

    try:
        promise = guarded(plugin, broken)
    except EvolveError as error:
        # It says itself that a package is not installed here, which is nothing to mend in it.
        lacks = isinstance(error, ConfigError) and isinstance(error.__cause__, ImportError)
        return Finding(plugin, about, check, "skipped" if lacks else "failed", str(error), _trace(error))
    if promise is None:
        return Finding(plugin, about, check, "passed")
    return Finding(plugin, about, check, "failed", " ".join(str(promise).split()), _trace(promise))


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _check_settings(model: object) -> None:
    """The model of the settings, and every model in it, says that other keys are errors."""
    if model is None:
        return
    assert _is_model(model), f"the settings are no pydantic model, got {model!r}"
    assert model.model_config.get("extra") == "forbid", (
        f'{model.__name__} takes keys that it does not have. Do: model_config = ConfigDict(extra="forbid")'
    )
    for field in model.model_fields.values():
        for kind in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if _is_model(kind):
                _check_settings(kind)


def _check_argument(entry: ModelEntry) -> None:
    """What the command line's words fill is there to be filled."""
    known = list(entry.settings.model_fields) if _is_model(entry.settings) else []
    assert not entry.argument or entry.argument in known, (
        f"the argument {entry.argument!r} is none of its settings, {', '.join(known) or 'which are none'}. Do: name one of them"
    )


def _examples(model: object) -> tuple[dict[str, Any], list[str]]:
    """An example for each setting that has one, and the keys of those that have neither that nor a default."""
    fields = model.model_fields if _is_model(model) else {}
    named = {field.alias or name: field for name, field in fields.items()}
    given = {name: field.examples[0] for name, field in named.items() if field.examples}
    return given, [name for name, field in named.items() if field.is_required() and name not in given]


def _check_screen(hook: pluggy.HookImpl) -> None:
    task = testing.rehearsed_task()
    for program in PROGRAMS:
        given = {"task": task, "program": program, "parents": [task.seed]}
        first, second = (hook.function(*(given[name] for name in hook.argnames)) for _ in range(2))
        assert isinstance(first, str | None), f"it gives a {type(first).__name__}, wanted a text or None"
        assert first == second, f"the same program has another reason: {first!r} != {second!r}"


def _shared(points: Sequence[EntryPoint]) -> Iterator[Finding]:
    """Two plugins that cannot be used together: one entry point, or one name of what they register."""
    for name, count in Counter(point.name for point in points).items():
        if count > 1:
            yield Finding(
                name,
                "the plugin",
                "has a name of its own",
                "failed",
                f"{count} packages have an entry point {name!r}. Do: rename one",
            )
    if len(points) < 2:
        return
    taken: dict[tuple[str, str], str] = {}
    for point in points:
        for kind, name in _names(point):
            first = taken.setdefault((kind, name), point.name)
            if first != point.name:
                yield Finding(
                    point.name,
                    f"{kind} {name}",
                    "has a name of its own",
                    "failed",
                    f"plugin {first!r} has it too. Do: rename one",
                )


def _names(point: EntryPoint) -> Iterator[tuple[str, str]]:
    try:
        plugins = load((point,))
    except EvolveError:
        return
    for kind, entries in (
        ("evaluator", plugins.evaluators),
        ("operator", plugins.operators),
        ("strategy", plugins.strategies),
        ("kind of model", plugins.models),
        ("tracker", plugins.trackers),
    ):
        yield from ((kind, name) for name, found in entries.items() if found.plugin not in BUNDLED)


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).strip()
