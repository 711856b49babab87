"""`evolve plugin check`: what is wrong with a plugin is found and told of it."""

import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from click.testing import Result

from evolve import plugins

IMPORTS = """
from pydantic import BaseModel, ConfigDict, Field
from evolve import Child, Evaluation, Program, Selection, hookimpl
from evolve.hookspecs import EvaluatorEntry, ModelEntry, OperatorEntry, StrategyEntry, TrackerEntry
from evolve.types import EditError, Propose, Stage, Wait


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = 3


class Target(Strict):
    target: float


class Example(Strict):
    target: float = Field(examples=[7.0])


class Append:
    def propose(self, selection, context):
        program = context.history.program(context.history.program_id(1))
        return [Child(Program({**program.files, "added.py": f"x = {context.rng.integers(100)}"}))]


class Idle:
    def propose(self, selection, context):
        raise EditError("nothing")


class First:
    def __init__(self, operators):
        self.operator = operators[0]

    def ask(self, view, rng):
        return Propose(Selection(self.operator, parents=(1,)))

    def tell(self, event): ...


class Best(First):
    def __init__(self, operators):
        self.operator, self.best = operators[0], (0.0, 1)

    def ask(self, view, rng):
        return Propose(Selection(self.operator, parents=(self.best[1],)))

    def tell(self, event):
        record = getattr(event, "record", None)
        if record and record.evaluation.fitness is not None:
            self.best = max(self.best, (record.evaluation.fitness + 100, record.id))


class Judge:
    def __init__(self, settings): ...
    def stages(self, task):
        return [(Stage("one"), lambda candidate, trial: Evaluation.ok(1.0))]
    def functions(self, task):
        return {}


class Teller:
    def campaign_begun(self, run): print("hello")
    def record_settled(self, record): ...
    def campaign_ended(self, end): ...


class Nothing(Judge):
    def stages(self, task):
        return []
"""
HOOK = "\n\n@hookimpl\ndef register_{}():\n    return [{}]\n"
OPERATOR = HOOK.format("operators", "OperatorEntry('append', lambda settings: {}, {})")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Pretends that plugins are installed: each a module with this source, by its entry point's name."""
    points: list[EntryPoint] = []
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(plugins, "entry_points", lambda group: points if group == plugins.GROUP else [])

    def write(**sources: str) -> None:
        (tmp_path / "site").mkdir(exist_ok=True)
        for name, source in sources.items():
            module = f"checked_{tmp_path.name}_{name}"
            (tmp_path / "site" / f"{module}.py").write_text(IMPORTS + source)
            points.append(EntryPoint(name, module, plugins.GROUP))

    return write


def checked(call: Callable[..., Result], *words: str) -> list[dict[str, str]]:
    """The findings as JSON."""
    result = call("plugin", "check", *words, "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == any(finding["verdict"] == "failed" for finding in found), result.output
    return found


def failures(found: Sequence[dict[str, str]]) -> list[tuple[str, str]]:
    """What failed, with its message."""
    return [(finding["about"], finding["message"]) for finding in found if finding["verdict"] == "failed"]


def test_every_bundled_plugin_passes(call, monkeypatch):
    """As any other would have to; what a package is missing for is skipped, and says so."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    result = call("plugin", "check")
    assert result.exit_code == 0, result.output
    assert "failed" not in result.stdout
    rows = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "evolve.strategies strategy islands passed" in rows
    assert "evolve_trackers tracker jsonl passed" in rows
    assert "evolve_trackers tracker wandb skipped" in rows
    assert (
        "skipped: evolve_trackers, tracker wandb: the tracker 'wandb' needs the package wandb, which is not"
        in result.stdout
    )


def test_a_plugin_that_keeps_the_contract_passes(call, install):
    """Every part of it."""
    install(
        mine=OPERATOR.format("Append()", "Strict")
        + HOOK.format("strategies", "StrategyEntry('first', lambda settings, operators: First(operators), Strict)")
        + HOOK.format("evaluators", "EvaluatorEntry('judge', Judge, Example)")
        + HOOK.format("models", "ModelEntry('oracle', dict, Target, argument='target')")
        + HOOK.format("trackers", "TrackerEntry('teller', lambda settings: Teller(), Strict)")
        + "\n\n@hookimpl\ndef screen_program(program):\n    return None\n"
    )
    found = checked(call, "mine")
    assert [(finding["about"], finding["verdict"]) for finding in found] == [
        ("the plugin", "passed"),
        ("evaluator judge", "passed"),
        ("operator append", "passed"),
        ("strategy first", "passed"),
        ("tracker teller", "passed"),
        ("model oracle", "skipped"),
        ("hook screen_program", "passed"),
    ]


@pytest.mark.parametrize(
    ("source", "about", "message"),
    [
        ("import no_such_module", "the plugin", "plugin 'mine' raised ModuleNotFoundError"),
        ("\n@hookimpl\ndef register_operator(): ...", "the plugin", "implements a hook that does not exist"),
        ("\n@hookimpl\ndef screen_program(programm): ...", "the plugin", "Argument(s) {'programm'} are declared"),
        (HOOK.format("operators", "'append'"), "the plugin", "returned a str, wanted OperatorEntry"),
        (OPERATOR.format("1 / 0", "None"), "operator append", "plugin 'mine' raised ZeroDivisionError"),
        (
            OPERATOR.format("Idle()", "None"),
            "operator append",
            "every proposal ended with EditError, the first one with '",
        ),
        (
            HOOK.format("strategies", "StrategyEntry('best', lambda settings, operators: Best(operators))"),
            "strategy best",
            "it names a quarantined program",
        ),
        (HOOK.format("trackers", "TrackerEntry('teller', dict)"), "tracker teller", "it raises AttributeError"),
        (HOOK.format("trackers", "TrackerEntry('jsonl', dict)"), "the plugin", "'jsonl' is registered by two plugins"),
        (HOOK.format("evaluators", "EvaluatorEntry('judge', Nothing)"), "evaluator judge", "it has no stage"),
        (
            "\n@hookimpl\ndef screen_program(program):\n    return 7",
            "hook screen_program",
            "it gives a int, wanted a text or None",
        ),
        (
            HOOK.format("operators", "OperatorEntry('tune_literals', Append)"),
            "the plugin",
            "'tune_literals' is registered by two plugins, 'evolve.operators' and 'mine'",
        ),
    ],
)
def test_a_plugin_that_breaks_the_contract_is_told_where(call, install, source, about, message):
    """By its name, in one line, and the others are checked all the same."""
    install(mine=source, other=OPERATOR.format("Append()", "Strict").replace("append", "attach"))
    found = checked(call)
    assert any(place == about and message in told for place, told in failures(found)), failures(found)
    assert {finding["verdict"] for finding in found if finding["plugin"] == "other"} == {"passed"}
    text = call("plugin", "check", "mine")
    assert (text.exit_code, "Traceback" in text.output) == (1, False)
    assert f"failed: mine, {about}: " in text.stdout


def test_settings_without_a_default_need_an_example(call, install):
    """Without one the suite is skipped, which is no failure."""
    install(mine=OPERATOR.format("Append()", "Target"), other=OPERATOR.format("Append()", "Example"))
    (skipped,) = [finding for finding in checked(call, "mine") if finding["verdict"] == "skipped"]
    assert "its settings need a value for target. Try: give each an example" in skipped["message"]
    assert {finding["verdict"] for finding in checked(call, "other")} == {"passed"}


def test_two_plugins_with_one_name_are_found(call, install):
    """Each is well alone."""
    install(mine=OPERATOR.format("Append()", "Strict"), other=OPERATOR.format("Append()", "Strict"))
    assert failures(checked(call)) == [
        ("the names that they register", "'append' is registered by two plugins, 'mine' and 'other'. Try: rename one")
    ]


def test_a_finding_has_the_trace_of_what_was_raised(call, install):
    """In JSON."""
    install(mine=OPERATOR.format("1 / 0", "None"))
    (found,) = [finding for finding in checked(call, "mine") if finding["verdict"] == "failed"]
    assert "ZeroDivisionError: division by zero" in found["trace"]


def test_a_plugin_that_is_not_there_is_one_message(call, install):
    """With a guess."""
    install(mine="")
    result = call("plugin", "check", "mien")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "there is no plugin 'mien'. Did you mean 'mine'?" in result.stderr
