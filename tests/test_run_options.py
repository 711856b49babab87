"""Plans of `evolve run`: what is wrong with a command is found before anything is made."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from evolve import plugins
from evolve.campaign import Campaign
from evolve.config import Settings, settings_from
from evolve.hookspecs import PresetEntry
from evolve.plugins import Registered
from evolve.run_options import RunOptions, merge_settings, plan_more, plan_new
from evolve.task import folders
from evolve.types import ConfigError, PluginError, TaskError
from tests.written import Written, number_task

TASK_TOML = """schema = 1
deterministic = true
[parameters]
n = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A task folder."""
    folder = tmp_path / "tasks" / "number"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(TASK_TOML)
    (folder / "README.md").write_text("# Find the number\n")
    (folder / "seed.py").write_text("def value():\n    return 5.0\n")
    (folder / "evaluator.py").write_text("raise SystemExit\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty workspace."""
    home = tmp_path / "home"
    home.mkdir()
    return home


def request(task: object = None, **words: object) -> RunOptions:
    """A command line."""
    return RunOptions(task=None if task is None else str(task), **words)


def test_a_new_plan_holds_what_was_said_and_makes_nothing(folder, home):
    """Settings, the task with its parameter, and no file."""
    words = request(
        folder,
        budget=("5programs",),
        seed=3,
        workers=1,
        strategy="random",
        assignments=("task.n=4", "archive.islands=2"),
    )
    plan = plan_new(words, plugins.load(), home)
    assert (plan.settings.seed, plan.settings.workers, plan.settings.strategy.name) == (3, 1, "random")
    assert (plan.settings.budget, plan.settings.archive.islands) == (("5programs",), 2)
    assert dict(plan.task.parameters) == {"n": 4}
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"budget": ("-5s",)}, ConfigError, "not above zero"),
        ({"budget": ("5parsecs",)}, ConfigError, "there is no unit 'parsecs'"),
        ({"strategy": "island"}, ConfigError, "no strategy is called 'island'. Did you mean 'islands'?"),
        ({"workers": 0}, ConfigError, "'workers'"),
        ({"seed": -1}, ConfigError, "'seed'"),
        ({"assignments": ("archive.island=2",)}, ConfigError, "unknown setting 'archive.island'. Did you mean"),
        ({"assignments": ("archive",)}, ConfigError, "key=value"),
        ({"assignments": ("task.m=2",)}, TaskError, "no parameter 'm'"),
        ({"assignments": ('operators.names=["nothing"]',)}, ConfigError, "no operator is called 'nothing'"),
        ({"deterministic": True, "budget": ("5s",)}, ConfigError, "cannot end by the clock, got the budget '5s'"),
        ({"deterministic": True, "budget": ("until=07:30",)}, ConfigError, "cannot end by the clock"),
        (
            {"budget": ("5usd",)},
            ConfigError,
            "no operator of this campaign spends money, got 5usd. Try: give a budget in",
        ),
        ({"budget": ("9tokens", "2gpuh")}, ConfigError, "spends tokens or GPU hours, got 9tokens | 2gpuh. Try:"),
        ({"assignments": ("operators.names=tune_literals",)}, ConfigError, "a list, such as '[\"tune_literals\"]'"),
        ({"assignments": ("operators.names=2026-11-21",)}, ConfigError, "is a list, such as '[\"2026-11-21\"]'"),
        ({"name": "a/b"}, ConfigError, "campaign's name"),
    ],
)
def test_what_is_wrong_with_a_new_campaign_is_one_error(folder, home, words, error, message):
    """And nothing is made."""
    with pytest.raises(error) as caught:
        plan_new(request(folder, **words), plugins.load(), home)
    assert message in str(caught.value)
    assert list(home.iterdir()) == []


def test_a_campaign_file_may_name_the_task(folder, home, tmp_path):
    """From where it lies; what the command line says wins."""
    (tmp_path / "search.toml").write_text(
        "schema = 1\ntask = 'tasks/number'\nseed = 3\nworkers = 1\n[parameters]\nn = 9\n"
    )
    plan = plan_new(request(files=(str(tmp_path / "search.toml"),), seed=4), plugins.load(), home)
    assert (plan.task.folder, plan.settings.seed, plan.settings.workers) == (str(folder), 4, 1)
    assert dict(plan.task.parameters) == {"n": 9}


def test_campaign_files_are_layers_of_which_the_later_wins(folder, home, tmp_path):
    """Key by key, within tables too."""
    (tmp_path / "low.toml").write_text("schema = 1\nseed = 3\nworkers = 1\n[archive]\nislands = 2\nmigrants = 3\n")
    (tmp_path / "high.toml").write_text("schema = 1\nseed = 5\n[archive]\nislands = 4\n")
    files = tuple(str(tmp_path / f"{name}.toml") for name in ("low", "high"))
    settings = plan_new(request(folder, files=files), plugins.load(), home).settings
    assert (settings.seed, settings.workers) == (5, 1)
    assert (settings.archive.islands, settings.archive.migrants) == (4, 3)


PRESETS = (
    PresetEntry(
        "narrow",
        {"strategy": {"name": "islands", "settings": {"drafts": 1}}, "archive": {"islands": 1}},
        "one island",
    ),
    PresetEntry("greedy", {"budget": ["1h"]}, "sets what is no preset's"),
)


@pytest.fixture
def prepared():
    """The bundled plugins and one with presets."""
    bundled = plugins.load()
    return replace(bundled, presets={**bundled.presets, **{one.name: Registered("prepared", one) for one in PRESETS}})


def test_a_preset_is_the_lowest_layer(folder, home, tmp_path, prepared):
    """What a file, an option or `--set` gives comes before it; the settings say which it was, and where each value comes from."""
    (tmp_path / "search.toml").write_text("schema = 1\npreset = 'narrow'\n[archive]\nmigrants = 7\n")
    options = request(folder, files=(str(tmp_path / "search.toml"),), assignments=("strategy.settings.inspirations=5",))
    plan = plan_new(options, prepared, home)
    assert (plan.settings.preset, plan.settings.archive.islands, plan.settings.archive.migrants) == ("narrow", 1, 7)
    assert {"drafts": 1, "inspirations": 5}.items() <= plan.settings.strategy.settings.items()
    assert plan.sources["preset narrow"] == ("strategy.name", "strategy.settings.drafts", "archive.islands")
    assert plan.sources["--set"] == ("strategy.settings.inspirations",)


def test_another_strategy_than_the_presets_takes_none_of_its_settings(folder, home, prepared):
    """They are not its own."""
    settings = plan_new(request(folder, preset="narrow", strategy="random"), prepared, home).settings
    assert (settings.strategy.name, settings.strategy.settings) == ("random", {})


@pytest.mark.parametrize(
    ("preset", "error", "message"),
    [
        ("narow", ConfigError, "no preset is called 'narow'. Did you mean 'narrow'?"),
        ("greedy", PluginError, "preset 'greedy' sets 'budget', and a preset has only strategy, operators, models"),
        ("independent", ConfigError, "operator 'sample' needs a model, and this campaign has none"),
    ],
)
def test_a_preset_that_cannot_be_used_is_one_error(folder, home, prepared, preset, error, message):
    """Before anything is made."""
    with pytest.raises(error, match=re.escape(message)):
        plan_new(request(folder, preset=preset), prepared, home)
    assert list(home.iterdir()) == []


def test_a_campaign_needs_a_task(home):
    """Unless it goes on with one."""
    with pytest.raises(ConfigError, match="there is no TASK"):
        plan_new(request(), plugins.load(), home)


def test_a_name_that_is_taken_is_refused(folder, home):
    """Before anything starts."""
    Written(home, name="mine").campaign.close()
    with pytest.raises(ConfigError, match="there is a campaign 'mine' already"):
        plan_new(request(folder, name="mine"), plugins.load(), home)


def test_a_deterministic_campaign_may_count_programs(folder, home):
    """Which two runs do alike."""
    plan = plan_new(request(folder, deterministic=True, budget=("5programs",)), plugins.load(), home)
    assert plan.settings.deterministic


@pytest.mark.parametrize("other", ["60s", "5programs", "until=07:30", "fitness=2.6"])
def test_a_budget_in_money_may_stand_beside_one_that_can_be_spent(folder, home, other):
    """The other one ends the campaign."""
    plan = plan_new(request(folder, budget=("5usd", other)), plugins.load(), home)
    assert plan.settings.budget == ("5usd", other)


@pytest.fixture
def begun(folder: Path, home: Path) -> Campaign:
    """A campaign on the task of the folder, with two of 30 programs evaluated."""
    task = plan_new(request(folder), plugins.load(), home).task
    written = Written(
        home, number_task(folder=str(folder), version=task.version, parameters=task.parameters), task=str(folder)
    )
    written.seed()
    written.proposal(6.0)
    written.proposal(7.0)
    with written.campaign as campaign:
        yield campaign


def test_going_on_keeps_the_settings(begun):
    """The old total stands, and so does the task."""
    plan = plan_more(request(), begun, begun.log.path.parents[2])
    assert (plan.settings, dict(plan.changes), plan.name) == (begun.settings, {}, "number")


def test_going_on_may_change_budget_and_judges(begun, folder):
    """Nothing is written by that."""
    events = begun.log.count()
    plan = plan_more(request(folder, budget=("40programs",), workers=1), begun, begun.log.path.parents[2])
    assert dict(plan.changes) == {"budget": ["40programs"], "workers": 1}
    assert (plan.settings.budget, plan.settings.workers) == (("40programs",), 1)
    assert begun.log.count() == events


def test_going_on_may_change_what_may_change_while_a_campaign_runs(begun, folder):
    """By `--set`, beside the options; and what a run reads when it begins."""
    assignments = ("confirm.share=0.5", "workers=3", "trackers.names=['jsonl']")
    plan = plan_more(request(folder, budget=("40programs",), assignments=assignments), begun, begun.log.path.parents[2])
    assert sorted(plan.changes) == ["budget", "confirm", "trackers", "workers"]
    assert (plan.settings.confirm.share, plan.settings.confirm.z, plan.settings.workers) == (0.5, 2.0, 3)
    assert plan.settings.trackers.names == ("jsonl",)


def test_going_on_may_name_other_trackers(begun, folder):
    """In the place of those that it had."""
    plan = plan_more(request(folder, trackers=("tensorboard",)), begun, begun.log.path.parents[2])
    assert plan.changes == {"trackers": {"names": ["tensorboard"], "settings": {}}}


def test_a_tracker_that_there_is_not_is_found_before_anything_is_made(folder, home):
    """With its settings."""
    with pytest.raises(ConfigError, match=r"no tracker is called 'jsnl'\. Did you mean 'jsonl'\?"):
        plan_new(request(folder, trackers=("jsnl",)), plugins.load(), home)
    wrong = ("trackers.settings.jsonl.fil=x",)
    with pytest.raises(ConfigError, match="'jsonl' has no setting 'fil'"):
        plan_new(request(folder, trackers=("jsonl",), assignments=wrong), plugins.load(), home)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"budget": ("2programs",)}, "is spent, 2programs: 2 programs in 0 s. Try: give a larger one"),
        ({"budget": ("1s",)}, "is spent, but for 1.0 s, 1s"),
        ({"budget": ("-2s",)}, "not above zero"),
        ({"budget": ("5usd",)}, "no operator of this campaign spends money, got 5usd"),
        ({"workers": 0}, "'workers'"),
        ({"seed": 9}, "keeps the settings that it began with, got --seed"),
        ({"strategy": "random", "name": "new"}, "got --name, --strategy"),
        ({"assignments": ("archive.islands=2",)}, "'archive.islands' cannot change in a campaign that has begun"),
        ({"deterministic": True}, "got --deterministic"),
        ({"files": ("search.toml",)}, "got --config"),
        ({"models": ("mailbox:mail",)}, "Try: fork it with models, evolve campaign fork number --model SPEC"),
        ({"task": "circle_packing"}, "is on the task 'number', got 'circle_packing'"),
    ],
)
def test_what_is_wrong_with_going_on_is_one_error(begun, words, message):
    """What, got, do this."""
    with pytest.raises(ConfigError) as caught:
        plan_more(request(**words), begun, begun.log.path.parents[2])
    assert message in str(caught.value)


def test_saying_again_what_is_so_is_no_change(begun):
    """The same seed and strategy."""
    assert dict(plan_more(request(seed=0, strategy="islands"), begun, begun.log.path.parents[2]).changes) == {}


def test_a_task_that_has_changed_is_refused(begun, folder):
    """Its scores would not compare."""
    (folder / "evaluator.py").write_text("other = 1\n")
    with pytest.raises(ConfigError, match="has changed since campaign 'number' began"):
        plan_more(request(), begun, begun.log.path.parents[2])


def test_a_task_whose_folder_is_gone_says_where_it_was(begun, folder, tmp_path):
    """And how to say where it is now."""
    folder.rename(tmp_path / "moved")
    with pytest.raises(TaskError) as caught:
        plan_more(request(), begun, begun.log.path.parents[2])
    assert f"the folder of task 'number' is gone: it was {folder}. Try: say where it is now" in str(caught.value)
    assert "evolve run PATH --continue number" in str(caught.value)


def test_a_folder_that_was_moved_and_renamed_is_the_same_task(begun, folder, tmp_path):
    """As long as its files are."""
    moved = folder.rename(tmp_path / "moved")
    assert plan_more(request(moved), begun, begun.log.path.parents[2]).task.folder == str(moved)
    (moved / "evaluator.py").write_text("other = 1\n")
    with pytest.raises(ConfigError, match="is on the task 'number', got 'moved'"):
        plan_more(request(moved), begun, begun.log.path.parents[2])


def test_a_campaign_on_a_file_is_named_after_the_file(tmp_path, home, monkeypatch):
    """Whatever its folder is called; a task of that folder, and a name that is given, stay."""
    monkeypatch.chdir(tmp_path)
    folders.create("mine", "one-file", tmp_path / "work")
    (tmp_path / "work" / "problem.py").rename(tmp_path / "work" / "route.py")
    assert plan_new(request("work/route.py"), plugins.load(()), home).name == "route"
    (tmp_path / "work" / "route.py").rename(tmp_path / "work" / "problem.py")
    assert plan_new(request("work/problem.py"), plugins.load(()), home).name == "problem"
    assert plan_new(request("work"), plugins.load(()), home).name is None
    assert plan_new(request("work/problem.py", name="own"), plugins.load(()), home).name == "own"


FILE = {
    "task": "of_file",
    "seed": 1,
    "strategy": {"name": "islands", "settings": {"inspirations": 3}},
    "parameters": {"n": 3, "m": 3},
    "budget": ["1h"],
}


def merged(given: dict | None = None, *assignments: str, file: dict = FILE) -> Settings:
    """The settings of the file above, and more."""
    return settings_from(merge_settings(file, given or {}), assignments)


def test_the_command_line_wins_over_the_file_and_set_over_both():
    """Key by key."""
    settings = merged({"seed": 2, "task": "of_words", "budget": ["5s"]}, "seed=3", "task.n=4")
    assert (settings.seed, settings.task, settings.budget) == (3, "of_words", ("5s",))
    assert settings.parameters == {"n": 4, "m": 3}


@pytest.mark.parametrize(
    ("name", "settings"), [("random", {}), ("islands", {"inspirations": 3})], ids=["another", "the same"]
)
def test_another_strategy_takes_nothing_of_the_settings_of_the_files(name, settings):
    """They are not its own."""
    found = merged({"strategy": {"name": name}}).strategy
    assert (found.name, found.settings) == (name, settings)


def test_a_file_may_leave_the_name_of_the_default_strategy_out():
    """And the command line may say it."""
    file = {"task": "t", "strategy": {"settings": {"inspirations": 3}}}
    found = merged({"strategy": {"name": "islands"}}, file=file).strategy
    assert (found.name, found.settings) == ("islands", {"inspirations": 3})


def test_trackers_of_the_command_line_take_the_files_place_and_keep_their_settings():
    """Those that are not named any more have none."""
    file = {
        "task": "t",
        "trackers": {"names": ["jsonl", "wandb"], "settings": {"jsonl": {"file": "x"}, "wandb": {"project": "y"}}},
    }
    found = merged({"trackers": {"names": ["jsonl", "tensorboard"]}}, file=file).trackers
    assert (found.names, found.settings) == (("jsonl", "tensorboard"), {"jsonl": {"file": "x"}})
