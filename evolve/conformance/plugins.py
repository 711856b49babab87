"""Checks of installed plugins: each one loads, and all that it registers passes the suites of `evolve.testing`.

Anything that a plugin does or raises is a finding about it, and the next check runs all the same."""

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pluggy
from pydantic import BaseModel

from evolve import testing
from evolve.config import settings_from
from evolve.plugins import Plugins, Registered, guarded, load
from evolve.types import ConfigError, EvaluatorSource, EvolveError, MissingPartError, Program

PROGRAMS = (
    Program({"seed.py": "def value():\n    return 5.0\n"}),
    Program({"seed.py": "def f(x, n=3):\n    total = 0\n    for i in range(n):\n        total += 0.5 * x + i\n"}),
    Program({"seed.py": "RATES = [0.1, 0.25, 4]\n\n\ndef pick(k):\n    return RATES[k]\n", "more.py": "LIMIT = 20\n"}),
    Program({"main.c": '#include <stdio.h>\nint main(void) { double a = 1.5; printf("%f", a * 7); return 0; }\n'}),
)
"""Programs for an operator, which must find something to change in one of them at least."""


@dataclass(frozen=True, slots=True)
class PluginFinding:
    """Result of one check. `about` is the plugin itself or a thing that it registers; `trace` is where its code raised."""

    plugin: str
    about: str
    verdict: Literal["passed", "failed", "skipped"]
    message: str = ""
    trace: str = ""


def check_plugins(points: Sequence[EntryPoint], bundled: Sequence[str] = ()) -> Iterator[PluginFinding]:
    """Yields the findings about installed and bundled plugins, each loaded without the others, and about all of them together."""
    for name in bundled:
        yield from _check_entries(name, load(()))
    failed = False
    for point in points:
        try:
            plugins = load((point,))
        except EvolveError as error:
            failed = True
            yield PluginFinding(point.name, "the plugin", "failed", str(error), _trace(error))
            continue
        yield PluginFinding(point.name, "the plugin", "passed")
        yield from _check_entries(point.name, plugins)
    if not failed and len(points) > 1:
        # Two that are well alone may register one name.
        yield _try("all plugins", "the names that they register", partial(load, points))


def _check_entries(plugin: str, plugins: Plugins) -> Iterator[PluginFinding]:
    """Runs the suites of a plugin's evaluators, operators, strategies and trackers. No model and no executor is made: they may want a key, start a server, or reach other machines."""
    for kind, (registry, suite) in _SUITES.items():
        registered: Mapping[str, Registered[Any]] = getattr(plugins, registry)
        for name, found in registered.items():
            if found.plugin == plugin:
                yield _run_suite(plugins, plugin, f"{kind} {name}", partial(suite, plugins, name), found.entry.settings)
    yield from _skip_entries(plugin, "model", plugins.models)
    yield from _skip_entries(plugin, "executor", plugins.executors)
    for name, preset in plugins.presets.items():
        if preset.plugin == plugin:
            yield _try(plugin, f"preset {name}", partial(_check_preset, plugins, name))
    for hook in plugins.manager.hook.screen_program.get_hookimpls():
        if hook.plugin_name == plugin:
            yield _try(plugin, "hook screen_program", partial(_check_screen, hook))


def _skip_entries(plugin: str, kind: str, registered: Mapping[str, Registered[Any]]) -> Iterator[PluginFinding]:
    """Yields a finding about each entry that is not tried out, with what tries it out."""
    why = f"making one may start a server, or need a key. Try: call `evolve.testing.check_{kind}` in a test"
    for name, found in registered.items():
        if found.plugin == plugin:
            yield PluginFinding(plugin, f"{kind} {name}", "skipped", why)


def _run_suite(
    plugins: Plugins,
    plugin: str,
    about: str,
    suite: Callable[[Mapping[str, Any]], None],
    settings: type[BaseModel] | None,
) -> PluginFinding:
    """Runs the suite of an entry, with the examples of its settings that a person would have to give."""
    fields = {} if settings is None else {field.alias or name: field for name, field in settings.model_fields.items()}
    given = {name: field.examples[0] for name, field in fields.items() if field.examples}
    missing = [name for name, field in fields.items() if field.is_required() and name not in given]
    if not missing:
        return _try(plugin, about, partial(suite, given))
    message = (
        f"its settings need a value for {', '.join(missing)}. Try: give each an example, Field(examples=[...]); one that names a file "
        "of a task is tried by `evolve task check`"
    )
    return PluginFinding(plugin, about, "skipped", message)


def _check_evaluator(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    testing.check_evaluator(lambda: plugins.evaluator(EvaluatorSource(plugin=name, settings=settings)))


def _check_operator(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    # The author alone knows a good reply to an operator that needs a model, so it is given replies that are none.
    entry = plugins.operators[name].entry
    if entry.needs_model:
        testing.check_model_operator(
            lambda: plugins.operator(name, settings), PROGRAMS, traits=entry.traits, purposes=entry.purposes
        )
    else:
        testing.check_operator(lambda: plugins.operator(name, settings), PROGRAMS, entry.traits)


def _check_strategy(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    companions = {operator: plugins.operators[operator].entry.traits for operator in plugins.companions(name)}
    testing.check_strategy(lambda operators: plugins.strategy(name, settings, operators), operators=companions)


def _check_tracker(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    # A tracker may print, which is no finding.
    with TemporaryDirectory(prefix="evolve-tracker-") as folder, redirect_stdout(sys.stderr):
        testing.check_tracker(lambda: plugins.tracker(name, settings), Path(folder))


def _check_preset(plugins: Plugins, name: str) -> None:
    """Makes the strategy and the operators that a preset names, with its settings, as a campaign with a model would."""
    settings = settings_from({"task": "none", **plugins.preset(name)})
    operators = plugins.operators_of(settings.strategy.name, settings.operators.names, models=True)
    plugins.strategy(settings.strategy.name, settings.strategy.settings, operators)
    for operator in operators:
        plugins.operator(operator, settings.operators.settings.get(operator, {}))
    assert plugins.presets[name].entry.about, "it does not say what it is for"


Suite = Callable[[Plugins, str, Mapping[str, Any]], None]
_SUITES: Mapping[str, tuple[str, Suite]] = {
    "evaluator": ("evaluators", _check_evaluator),
    "operator": ("operators", _check_operator),
    "strategy": ("strategies", _check_strategy),
    "tracker": ("trackers", _check_tracker),
}


def _check_screen(hook: pluggy.HookImpl) -> None:
    task = testing.rehearsed_task()
    for program in PROGRAMS:
        given = {"task": task, "program": program, "parents": [task.seed]}
        first, second = (hook.function(*(given[name] for name in hook.argnames)) for _ in range(2))
        assert isinstance(first, str | None), f"it gives a {type(first).__name__}, wanted a text or None"
        assert first == second, f"the same program has another reason: {first!r} != {second!r}"


def _try(plugin: str, about: str, check: Callable[[], object]) -> PluginFinding:
    """Runs a check, which passes or says why not; a broken promise is an `AssertionError`."""

    def find_broken_promise() -> AssertionError | None:
        try:
            check()
        except AssertionError as error:
            return error
        return None

    try:
        broken = guarded(plugin, find_broken_promise)
    except EvolveError as error:
        # It says itself that a package, or a box, is not here, which is nothing to mend in it.
        lacks = isinstance(error, MissingPartError) or (
            isinstance(error, ConfigError) and isinstance(error.__cause__, ImportError)
        )
        return PluginFinding(plugin, about, "skipped" if lacks else "failed", str(error), _trace(error))
    if broken is None:
        return PluginFinding(plugin, about, "passed")
    return PluginFinding(plugin, about, "failed", " ".join(str(broken).split()), _trace(broken))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).strip()
