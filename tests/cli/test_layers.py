"""Where settings come from."""

import pytest

from evolve.cli.request import Layers

FILE = {
    "task": "of_file",
    "seed": 1,
    "strategy": {"name": "islands", "settings": {"inspirations": 3}},
    "parameters": {"n": 3, "m": 3},
    "budget": ["1h"],
}


def layers(words: dict | None = None, *assignments: str) -> Layers:
    """Those of the file above, and more."""
    return Layers(words or {}, assignments, FILE, "search.toml")


def test_the_command_line_wins_over_the_file_and_set_over_both():
    """Key by key."""
    settings = layers({"seed": 2, "task": "of_words", "budget": ["5s"]}, "seed=3", "task.n=4").settings()
    assert (settings.seed, settings.task, settings.budget) == (3, "of_words", ("5s",))
    assert settings.parameters == {"n": 4, "m": 3}


@pytest.mark.parametrize(
    ("name", "settings"), [("random", {}), ("islands", {"inspirations": 3})], ids=["another", "the same"]
)
def test_another_strategy_takes_nothing_of_the_settings_of_the_files(name, settings):
    """They are not its own."""
    found = layers({"strategy": {"name": name}}).settings().strategy
    assert (found.name, found.settings) == (name, settings)


def test_a_file_may_leave_the_name_of_the_default_strategy_out():
    """And the command line may say it."""
    file = {"task": "t", "strategy": {"settings": {"inspirations": 3}}}
    found = Layers({"strategy": {"name": "islands"}}, (), file, "search.toml").settings().strategy
    assert (found.name, found.settings) == ("islands", {"inspirations": 3})


@pytest.mark.parametrize(
    ("key", "source"),
    [
        ("seed", "command line"),
        ("archive.islands", "--set archive.islands=5"),
        ("parameters.n", "--set task.n=4"),
        ("parameters.m", "search.toml"),
        ("strategy.settings.inspirations", "search.toml"),
        ("judges", ""),
        ("archive.migrants", ""),
    ],
)
def test_every_value_has_a_source(key, source):
    """None: it is the default."""
    words = layers({"seed": 2}, "archive.islands=4", "task.n=4", "archive.islands=5")
    assert words.source(key) == source


def test_the_file_alone_is_on_the_task_that_is_meant():
    """So that what is wrong with it is told of it."""
    assert layers({"seed": 2, "task": "of_words"}, "seed=4").of_file().settings().task == "of_words"
    assert layers({"seed": 2}, "seed=4").of_file().settings().seed == 1


def test_trackers_of_the_command_line_take_the_files_place_and_keep_their_settings():
    """Those that are not named any more have none."""
    file = {
        "task": "t",
        "trackers": {"names": ["jsonl", "wandb"], "settings": {"jsonl": {"file": "x"}, "wandb": {"project": "y"}}},
    }
    found = Layers({"trackers": {"names": ["jsonl", "tensorboard"]}}, (), file, "search.toml").settings().trackers
    assert (found.names, found.settings) == (("jsonl", "tensorboard"), {"jsonl": {"file": "x"}})
