"""`evolve plugin check`: whether installed plugins load, and whether all that they register passes the suites of `evolve.testing`.

Anything that a plugin does or raises is a finding about it, and the next check runs all the same."""

import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
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
from evolve.cli.options import DEBUG, debug_option, json_option
from evolve.cli.output import emit_all, say, table
from evolve.cli.plugin_commands import ENTRY_POINTS, import_name, load_command
from evolve.hookspecs import ModelEntry
from evolve.plugins import BUNDLED, Plugins, Registered, guarded, installed, load
from evolve.types import ConfigError, EvaluatorSource, EvolveError, Program
from evolve.types.errors import did_you_mean

Verdict = Literal["passed", "failed", "skipped"]
Suite = Callable[[Plugins, str, Mapping[str, Any]], None]

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
"""Programs for an operator, which must find something to change in one of them at least."""


@dataclass(frozen=True, slots=True)
class PluginFinding:
    """The result of one check. `about` is the plugin itself or a thing that it registers; `trace` is where its code raised."""

    plugin: str
    about: str
    check: str
    verdict: Verdict
    message: str = ""
    trace: str = ""


@click.command("check")
@click.argument("name", required=False)
@json_option
@debug_option
def check_plugins(name: str | None, as_json: bool) -> None:
    """Load plugin NAME, or every plugin, and try out all that it registers.

    Operators, strategies, evaluators and trackers pass the suites of evolve.testing: equal inputs give equal answers, a replay
    rebuilds a strategy, a tracker is told of a rehearsed campaign and leaves nothing open, settings refuse unknown keys, names
    are free. Exit code 1 where something fails.
    """
    findings = list(find_faults(*_select(name)))
    if as_json:
        emit_all({key: value for key, value in asdict(finding).items() if key != "trace"} for finding in findings)
    else:
        say(_format(findings))
    context = click.get_current_context()
    failed = [finding for finding in findings if finding.verdict == "failed"]
    if context.meta.get(DEBUG):
        for finding in failed:
            say(f"\n{finding.plugin}: {finding.about} {finding.check}\n{finding.trace}", err=True)
    if failed:
        context.exit(1)


def _select(name: str | None) -> tuple[list[EntryPoint], list[str]]:
    """Returns the installed and the bundled plugins that are to be checked."""
    points = list(installed())
    if name is None:
        return points, list(BUNDLED)
    named = [point for point in points if point.name == name]
    if not named and name not in BUNDLED:
        known = [*BUNDLED, *(point.name for point in points)]
        raise ConfigError(
            f"there is no plugin {name!r}.{did_you_mean(name, known)} Do: install its package (pip install -e .); `evolve plugin list` "
            "shows what there is"
        )
    return named, [] if named else [name]


def _format(findings: Sequence[PluginFinding]) -> str:
    rows = [(finding.plugin, finding.about, finding.check, finding.verdict) for finding in findings]
    messages = [f"{one.verdict}: {one.plugin}, {one.about}: {one.message}" for one in findings if one.message]
    counts = Counter(finding.verdict for finding in findings)
    summary = ", ".join(
        f"{counts[verdict]} {verdict}" for verdict in ("passed", "failed", "skipped") if counts[verdict]
    )
    return "\n".join(
        [table(("plugin", "about", "check", "result"), rows), "", *messages, summary or "nothing to check"]
    )


def find_faults(points: Sequence[EntryPoint], bundled: Sequence[str] = ()) -> Iterator[PluginFinding]:
    """Yields all findings about some installed plugins, and about bundled ones, each loaded without the others."""
    for name in bundled:
        yield from _check_entries(name, load(()))
    loaded: list[tuple[str, Plugins]] = []
    for point in points:
        try:
            plugins = load((point,))
        except EvolveError as error:
            yield PluginFinding(point.name, "the plugin", "loads", "failed", str(error), _trace(error))
            continue
        yield PluginFinding(point.name, "the plugin", "loads", "passed")
        loaded.append((point.name, plugins))
        yield from _check_entries(point.name, plugins)
        package = point.dist.name if point.dist else ""
        for command in entry_points(group=ENTRY_POINTS):
            if command.dist and command.dist.name == package:
                yield _try(
                    point.name, f"command {command.name}", "is a click command", partial(_check_command, command)
                )
    yield from _find_shared_names(points, loaded)


def _registries(plugins: Plugins) -> Mapping[str, Mapping[str, Registered[Any]]]:
    return {
        "evaluator": plugins.evaluators,
        "operator": plugins.operators,
        "strategy": plugins.strategies,
        "tracker": plugins.trackers,
        "kind of model": plugins.models,
    }


def _check_entries(plugin: str, plugins: Plugins) -> Iterator[PluginFinding]:
    """Checks every evaluator, operator, strategy, tracker and kind of model of a plugin, and its hook. No model is made: it may want a
    key, or start a server."""
    for kind, registry in _registries(plugins).items():
        for name, found in registry.items():
            about, model = f"{kind} {name}", found.entry.settings
            if found.plugin != plugin:
                continue
            yield _try(plugin, about, "its settings forbid unknown keys", partial(_check_settings, model))
            if kind in _SUITES:
                yield _run_suite(plugins, plugin, kind, name, model)
            else:
                yield _try(plugin, about, "its argument is a setting", partial(_check_argument, found.entry))
    for hook in plugins.manager.hook.screen_program.get_hookimpls():
        if hook.plugin_name == plugin:
            about, check = "hook screen_program", "gives a reason or None, the same again"
            yield _try(plugin, about, check, partial(_check_screen, hook))


def _run_suite(plugins: Plugins, plugin: str, kind: str, name: str, model: object) -> PluginFinding:
    """Runs the suite of an entry, with the examples of its settings that a person would have to give."""
    check = f"keeps the promises of {'an' if kind[0] in 'aeiou' else 'a'} {kind}"
    given, missing = _examples(model)
    if not missing:
        return _try(plugin, f"{kind} {name}", check, partial(_SUITES[kind], plugins, name, given))
    message = (
        f"its settings need a value for {', '.join(missing)}. Do: give each an example, Field(examples=[...]); one that names a file "
        "of a task is tried by `evolve task check`"
    )
    return PluginFinding(plugin, f"{kind} {name}", check, "skipped", message)


def _check_evaluator(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    testing.check_evaluator(lambda: plugins.evaluator(EvaluatorSource(plugin=name, settings=settings)))


def _check_operator(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    # The author alone knows a good reply to an operator that needs a model, so it is given replies that are none.
    entry = plugins.operators[name].entry
    if entry.needs_model:
        testing.check_model_operator(lambda: plugins.operator(name, settings), PROGRAMS, traits=entry.traits)
    else:
        testing.check_operator(lambda: plugins.operator(name, settings), PROGRAMS)


def _check_strategy(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    testing.check_strategy(lambda operators: plugins.strategy(name, settings, operators))


def _check_tracker(plugins: Plugins, name: str, settings: Mapping[str, Any]) -> None:
    # A tracker may print, which is no finding.
    with TemporaryDirectory(prefix="evolve-tracker-") as folder, redirect_stdout(sys.stderr):
        testing.check_tracker(lambda: plugins.tracker(name, settings), Path(folder))


_SUITES: Mapping[str, Suite] = {
    "evaluator": _check_evaluator,
    "operator": _check_operator,
    "strategy": _check_strategy,
    "tracker": _check_tracker,
}


def _try(plugin: str, about: str, check: str, run: Callable[[], None]) -> PluginFinding:
    """Runs a check, which passes or says why not; a broken promise is an `AssertionError`."""

    def find_broken_promise() -> AssertionError | None:
        try:
            run()
        except AssertionError as error:
            return error
        return None

    try:
        broken = guarded(plugin, find_broken_promise)
    except EvolveError as error:
        # It says itself that a package is not installed here, which is nothing to mend in it.
        lacks = isinstance(error, ConfigError) and isinstance(error.__cause__, ImportError)
        return PluginFinding(plugin, about, check, "skipped" if lacks else "failed", str(error), _trace(error))
    if broken is None:
        return PluginFinding(plugin, about, check, "passed")
    return PluginFinding(plugin, about, check, "failed", " ".join(str(broken).split()), _trace(broken))


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).strip()


def _check_command(point: EntryPoint) -> None:
    load_command(point)
    group, dot, _ = point.name.rpartition(".")
    groups = (
        [name for name, (place, _) in COMMANDS.items() if isinstance(import_name(place), click.Group)] if dot else []
    )
    assert not dot or group in groups, f"evolve has no group {group!r}. Do: name one of {', '.join(groups)}"


def _is_model(kind: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _check_settings(model: object) -> None:
    """Asserts that the settings, and every model in them, forbid other keys."""
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
    known = list(entry.settings.model_fields) if _is_model(entry.settings) else []
    assert not entry.argument or entry.argument in known, (
        f"the argument {entry.argument!r} is none of its settings, {', '.join(known) or 'which are none'}. Do: name one of them"
    )


def _examples(model: object) -> tuple[dict[str, Any], list[str]]:
    """Returns an example for each setting that has one, and the keys of those that have neither that nor a default."""
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


def _find_shared_names(points: Sequence[EntryPoint], loaded: Sequence[tuple[str, Plugins]]) -> Iterator[PluginFinding]:
    """Yields plugins that cannot be used together: with one entry point, or with one name of what they register."""
    check = "has a name of its own"
    for name, count in Counter(point.name for point in points).items():
        if count > 1:
            message = f"{count} packages have an entry point {name!r}. Do: rename one"
            yield PluginFinding(name, "the plugin", check, "failed", message)
    taken: dict[tuple[str, str], str] = {}
    for plugin, plugins in loaded:
        for kind, registry in _registries(plugins).items():
            for name in [name for name, found in registry.items() if found.plugin not in BUNDLED]:
                first = taken.setdefault((kind, name), plugin)
                if first != plugin:
                    message = f"plugin {first!r} has it too. Do: rename one"
                    yield PluginFinding(plugin, f"{kind} {name}", check, "failed", message)
