"""Loading plugins, finding what they provide, and what is said of one that is broken."""

import importlib
import importlib.metadata
import sys
import types

import pytest
from pydantic import BaseModel, ConfigDict

from evolve import plugins
from evolve.hookspecs import EvaluatorEntry, OperatorEntry, StrategyEntry, hookimpl
from evolve.types import ConfigError, EvaluatorSource, EvolveError, PluginError, Program, Selection


class Level(BaseModel):
    """Settings of the plugin below."""

    model_config = ConfigDict(extra="forbid")
    level: int = 3


def module(name: str, **functions: object) -> types.ModuleType:
    """A plugin module made of hook implementations."""
    made = types.ModuleType(name)
    for hook, function in functions.items():
        function.__name__ = hook
        setattr(made, hook, hookimpl(function))
    return made


@pytest.fixture
def installed(monkeypatch):
    """Pretends that packages with these entry points are installed: name -> module or exception."""
    points: dict[str, object] = {}

    class Point:
        def __init__(self, name: str, value: object) -> None:
            self.name, self._value = name, value

        def load(self) -> object:
            if isinstance(self._value, Exception):
                raise self._value
            return self._value

    monkeypatch.setattr(plugins, "entry_points", lambda group: [Point(name, value) for name, value in points.items()])
    return points


def test_the_bundled_plugins_provide_the_embedded_names(installed):
    """What works without anything installed."""
    loaded = plugins.load()
    assert {"tune_literals", "perturb_literals"} <= set(loaded.operators)
    assert {"islands", "best_of_n", "sequential", "random"} <= set(loaded.strategies)
    assert {"benchmark", "command", "recipe"} <= set(loaded.evaluators)


def test_a_third_party_registers_through_the_same_hooks(installed):
    """Its factories get their settings with the defaults filled in."""
    seen = []
    installed["other"] = module(
        "other",
        register_operators=lambda: [
            OperatorEntry("shuffle", lambda settings: seen.append(settings) or "operator", Level)
        ],
        register_strategies=lambda: [StrategyEntry("mine", lambda settings, operators: (settings, operators))],
        register_evaluators=lambda: [EvaluatorEntry("near", lambda settings: ("evaluator", settings), Level)],
    )
    loaded = plugins.load()
    assert loaded.operator("shuffle", {"level": 4}) == "operator"
    assert loaded.strategy("mine", {}, ["shuffle"]) == ({}, ("shuffle",))
    assert loaded.evaluator(EvaluatorSource(plugin="near")) == ("evaluator", {"level": 3})
    assert seen == [{"level": 4}]
    assert loaded.operators["shuffle"].plugin == "other"


def package(folder, origin=""):
    """An installed package, with what pip says of where it is from."""
    about = folder / "mine-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.5\n")
    if origin:
        (about / "direct_url.json").write_text(origin)
    return importlib.metadata.Distribution.at(about)


@pytest.mark.parametrize(
    ("origin", "release"),
    [
        ("", "mine 1.5"),
        ('{"url": "file:///x", "dir_info": {}}', "mine 1.5"),
        ('{"url": "file:///x", "dir_info": {"editable": true}}', None),
    ],
)
def test_an_evaluator_has_the_release_of_its_package(installed, tmp_path, monkeypatch, origin, release):
    """None where the code may change without a new one."""
    installed["other"] = module(
        "other", register_evaluators=lambda: [EvaluatorEntry("near", lambda settings: settings)]
    )
    loaded = plugins.load()
    point = types.SimpleNamespace(name="other", dist=package(tmp_path, origin))
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point])
    assert loaded.evaluator_release(EvaluatorSource(plugin="near")) == release
    assert loaded.evaluator_release(EvaluatorSource(path="evaluator.py")) == ""


def test_a_fresh_manager_every_time(installed):
    """There is no global."""
    assert plugins.load().manager is not plugins.load().manager


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (ImportError("No module named 'nowhere'"), "plugin 'broken' raised ImportError: No module named 'nowhere'"),
        (ZeroDivisionError("at import"), "plugin 'broken' raised ZeroDivisionError: at import"),
        (module("m", register_nothing=lambda: ()), "a plugin implements a hook that does not exist"),
        (module("m", register_operators=lambda: 1 / 0), "plugin 'broken' raised ZeroDivisionError"),
        (
            module("m", register_operators=lambda: ["tune"]),
            "plugin 'broken': register_operators returned a str, wanted OperatorEntry",
        ),
        (
            module("m", register_operators=lambda: [OperatorEntry("tune_literals", lambda settings: None)]),
            "'tune_literals' is registered by two plugins, 'evolve.operators' and 'broken'",
        ),
    ],
)
def test_a_broken_plugin_is_named(installed, plugin, message):
    """One message that names it, and what to do."""
    installed["broken"] = plugin
    with pytest.raises(PluginError) as caught:
        plugins.load()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda loaded: loaded.operator("tune_literal", {}),
            "no operator is called 'tune_literal'. Did you mean 'tune_literals'?",
        ),
        (lambda loaded: loaded.strategy("iland", {}, []), "no strategy is called 'iland'. Did you mean 'islands'?"),
        (lambda loaded: loaded.evaluator(EvaluatorSource(plugin="oracle")), "no evaluator is called 'oracle'."),
        (lambda loaded: loaded.strategy("random", {"x": 1}, ["perturb_literals"]), "'random' has no settings, got x"),
        (
            lambda loaded: loaded.strategy("islands", {"x": 1}, ["tune_literals"]),
            "'islands' has no setting 'x'. Known: ",
        ),
        (
            lambda loaded: loaded.strategy("islands", {"resource": []}, ["tune_literals"]),
            "the settings of 'islands' are not usable: resource: ",
        ),
        (
            lambda loaded: loaded.operators_of("random", ["tune_literals"]),
            "uses history-free operators only, got 'tune_literals'",
        ),
        (lambda loaded: loaded.operators_of("islands", ["nothing"]), "no operator is called 'nothing'"),
    ],
)
def test_a_wrong_name_or_setting_is_one_clear_message(installed, ask, message):
    """With a guess of what was meant."""
    with pytest.raises(ConfigError) as caught:
        ask(plugins.load())
    assert message in str(caught.value)


def test_baselines_get_history_free_operators(installed):
    """They are what everything else is compared with."""
    loaded = plugins.load()
    assert loaded.operators_of("best_of_n", []) == ("mutate_ast", "perturb_literals")
    assert "tune_literals" in loaded.operators_of("islands", [])


def test_a_strategy_brings_its_own_operators_where_none_is_named(installed):
    """All of them, whatever others there are, but for those that need a model where there is none; one that is missing is an error."""
    entry = StrategyEntry("mine", lambda settings, operators: operators, operators=("rewrite", "shuffle"))
    installed["mine"] = module("mine", register_strategies=lambda: [entry])
    with pytest.raises(ConfigError, match="strategy 'mine' works with the operator 'shuffle', and no operator is"):
        plugins.load().operators_of("mine", [], models=True)
    assert plugins.load().operators_of("mine", ["diff"], models=True) == ("diff",)
    installed["other"] = module("other", register_operators=lambda: [OperatorEntry("shuffle", lambda settings: None)])
    assert plugins.load().operators_of("mine", [], models=True) == ("rewrite", "shuffle")
    assert plugins.load().operators_of("mine", []) == ("shuffle",)
    with pytest.raises(ConfigError, match="operator 'diff' needs a model, and this campaign has none"):
        plugins.load().operators_of("mine", ["diff", "shuffle"])


def test_a_strategy_whose_operators_all_need_a_model_names_them(installed):
    entry = StrategyEntry("mine", lambda settings, operators: operators, operators=("rewrite", "diff"))
    installed["mine"] = module("mine", register_strategies=lambda: [entry])
    with pytest.raises(
        ConfigError, match=r"strategy 'mine' brings operators that need a model \(rewrite, diff\), and this"
    ):
        plugins.load().operators_of("mine", [])


@pytest.mark.parametrize(
    ("path", "seconds", "names"),
    [
        ("a.py", 0.9, ("tune_literals", "mutate_ast")),
        ("a.py", None, ("tune_literals", "mutate_ast")),
        ("a.py", 1.0, ("tune_literals",)),
        ("a.c", None, ("tune_literals",)),
    ],
)
def test_some_operators_are_for_some_tasks_only(installed, path, seconds, names):
    """By how long judging takes, and by the suffixes of the seed's files."""
    loaded, seed = plugins.load(), Program({path: "x = 1\n"})
    assert loaded.usable(("tune_literals", "mutate_ast"), seed, seconds) == names
    assert loaded.usable(("mutate_ast",), seed, seconds) == ("mutate_ast",)


def test_guarded_names_the_plugin_and_lets_our_own_errors_pass():
    """The one place where anything may be raised."""
    with pytest.raises(PluginError, match="plugin 'p' raised KeyError: 'x'"):
        plugins.guarded("p", {}.__getitem__, "x")

    def ours() -> None:
        raise EvolveError("mine")

    with pytest.raises(EvolveError, match="mine"):
        plugins.guarded("p", ours)
    assert plugins.guarded("p", len, "abc") == 3


def test_screening_asks_every_plugin_and_names_the_one_that_refuses(installed, circle_task):
    """A hook may leave out arguments that it does not use."""
    installed["picky"] = module("picky", screen_program=lambda program: "too short" if len(program.files) < 2 else None)
    loaded = plugins.load()
    short, long = Program({"a.py": "x = 1\n"}), Program({"a.py": "x = 1\n", "b.py": "y = 2\n"})
    assert loaded.screen(circle_task, short, []) == "picky: too short"
    assert loaded.screen(circle_task, long, []) is None


@pytest.mark.parametrize("answer", [None, "Read this.", [("hint", "Read this.")]])
def test_what_a_plugin_says_in_a_prompt_is_sections(installed, circle_task, answer):
    """Anything else is the plugin's mistake, and one of its proposals fails, not the campaign."""
    installed["chatty"] = module("chatty", prompt_sections=lambda task: answer)
    with pytest.raises(PluginError, match=r"plugin 'chatty': prompt_sections returned .*, wanted Sections\. Try: mend"):
        plugins.load().prompt_sections(circle_task, Selection("diff"))


def test_the_example_package_registers_what_it_says(installed):
    """tests/plugin_package is imported here as it lies; another test installs it."""
    import pathlib

    folder = str(pathlib.Path(__file__).parent / "plugin_package")
    sys.path.insert(0, folder)
    try:
        installed["example"] = importlib.import_module("evolve_example")
        loaded = plugins.load()
        assert (
            loaded.evaluators["near"].plugin,
            loaded.operators["count"].plugin,
            loaded.strategies["climb"].plugin,
        ) == ("example", "example", "example")
        with pytest.raises(ConfigError, match="target: Field required"):
            loaded.evaluator(EvaluatorSource(plugin="near"))
    finally:
        sys.path.remove(folder)
        sys.modules.pop("evolve_example", None)
