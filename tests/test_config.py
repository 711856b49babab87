"""Settings: what a person may write, and what is said when it is wrong."""

import pytest

from evolve.campaign.settings import with_templates
from evolve.config import Settings, parse_assignment, restore_settings, settings_from
from evolve.devices.inventory import usable_cores
from evolve.types import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b=1", (["a", "b"], 1)),
        ("a=1.5", (["a"], 1.5)),
        ("a=true", (["a"], True)),
        ("a=[1, 2]", (["a"], [1, 2])),
        ("a=some words", (["a"], "some words")),
        ("a=1\nb = 2", (["a"], "1\nb = 2")),
        ('a="1"', (["a"], "1")),
        ("a==", (["a"], "=")),
    ],
)
def test_assignments_are_toml_values_or_words(text, expected):
    """What is no TOML value is a string."""
    assert expected == parse_assignment(text)


def test_defaults_need_nothing_but_a_task():
    """A task is all that must be named."""
    settings = settings_from({"task": "circle_packing"})
    assert (
        settings.task,
        settings.strategy.name,
        settings.archive.islands,
        settings.confirm.share,
    ) == ("circle_packing", "islands", 4, 0.2)
    assert usable_cores() == settings.workers


def test_assignments_win_over_values():
    """`--set` is read last."""
    settings = settings_from({"task": "t", "archive": {"islands": 3}}, ["archive.islands=5", "confirm.z=1.5"])
    assert (settings.archive.islands, settings.confirm.z) == (5, 1.5)


def test_task_assignments_are_parameters():
    """`--set task.n=32` sets the task's own parameter."""
    assert settings_from({"task": "t"}, ["task.n=32", "task.name=x"]).parameters == {"n": 32, "name": "x"}


@pytest.mark.parametrize(
    ("values", "assignments", "message"),
    [
        ({}, ["archive.ilands=2"], "unknown setting 'archive.ilands'. Did you mean 'islands'?"),
        ({}, ["wieght=2"], "unknown setting 'wieght'."),
        (
            {},
            ['models.members=[{name="a", weigth=2}]'],
            "unknown setting 'models.members.0.weigth'. Did you mean 'weight'?",
        ),
        (
            {},
            ['archive.axes=[{name="a", low=0, high=1, bins=3, bin=3}]'],
            "unknown setting 'archive.axes.0.bin'. Did you mean 'bins'?",
        ),
        ({}, ["archive.islands=0"], "setting 'archive.islands' is at least 1, got 0"),
        ({}, ["archive.islands=two"], "setting 'archive.islands' is a whole number, got 'two'. Try: "),
        ({}, ["confirm.z=two"], "setting 'confirm.z' is a number, got 'two'"),
        ({}, ["carry=3"], "setting 'carry' is true or false, got 3"),
        ({}, ["strategy.name=3"], "setting 'strategy.name' is a text, got 3"),
        ({}, ["archive.cells=x"], "setting 'archive.cells' is 'grid' or 'cvt', got 'x'"),
        ({}, ["seed.x=1"], "'seed' in 'seed.x=1' is a value, not a table"),
        ({}, ["islands"], "a setting is written key=value, got 'islands'"),
        ({}, ["=3"], "a setting is written key=value, got '=3'"),
        ({"seed": -1}, [], "setting 'seed' is at least 0, got -1"),
        (
            {},
            ["novelty.distance=0.7"],
            "setting 'novelty.distance' is at most 0.5, got 0.7",
        ),
        (
            {"models": {"members": [{"name": "a"}], "purposes": {"reflect": "a"}}},
            [],
            "every member serves another purpose; name one for 'propose', too",
        ),
        ({}, ["novelty.cosine=0"], "setting 'novelty.cosine' is more than 0, got 0"),
        (
            {},
            ["task=other"],
            "the task is an argument, and --set task.KEY=VALUE sets one of its parameters, got --set task=other",
        ),
    ],
)
def test_a_wrong_setting_is_one_clear_message(values, assignments, message):
    """What, got, do this."""
    with pytest.raises(ConfigError) as caught:
        settings_from({"task": "t", "seed": 0, **values}, assignments)
    assert message in str(caught.value)


def test_settings_survive_their_own_dump():
    """What the log stores is what is read back."""
    settings = settings_from({"task": "t", "budget": ["60s"]}, ["operators.names=['a']", "operators.settings.a.x=1"])
    assert settings == Settings.model_validate(settings.model_dump(mode="json"))


def test_every_setting_has_a_reader():
    """No key is silently ignored: each is read somewhere in the engine."""
    import pathlib

    import evolve

    root = pathlib.Path(evolve.__file__).parent
    text = "\n".join(path.read_text() for path in root.rglob("*.py") if path.name != "config.py")
    sections = [
        Settings,
        *(field.annotation for field in Settings.model_fields.values() if hasattr(field.annotation, "model_fields")),
    ]
    unread = [name for section in sections for name in section.model_fields if f".{name}" not in text]
    assert unread == []


@pytest.mark.parametrize(
    ("outage", "seconds"), [({"wait_seconds": 5.0}, 5.0), ({"then": "stop"}, 600.0), (None, 600.0)]
)
def test_a_log_may_lack_the_wait_for_an_outage(outage, seconds):
    """One version did not write it; `cache` is older still."""
    values = {"task": "t", "cache": True} | ({"outage": outage} if outage else {})
    assert restore_settings(values).outage.wait_seconds == seconds


def test_a_folder_of_templates_becomes_their_texts(tmp_path):
    """So that the log needs no folder; a template that is given by itself comes first."""
    (tmp_path / "lineage.md").write_text("L {{items}}")
    (tmp_path / "repair.md").write_text("R {{reason}}")
    given = {"task": "t", "prompts": {"folder": str(tmp_path), "templates": {"repair": "own {{reason}}"}}}
    section = with_templates(settings_from(given)).prompts
    assert (section.folder, section.templates) == ("", {"lineage": "L {{items}}", "repair": "own {{reason}}"})


def test_a_wrong_template_is_said_before_anything_runs(tmp_path):
    """With its name and a remedy, from a folder and from the settings."""
    with pytest.raises(ConfigError, match=r"no prompt template is called 'linage'\. Did you mean 'lineage'\?"):
        with_templates(settings_from({"task": "t", "prompts": {"templates": {"linage": "x"}}}))
    with pytest.raises(ConfigError, match="the prompt templates cannot be read"):
        with_templates(settings_from({"task": "t", "prompts": {"folder": str(tmp_path / "none")}}))


def test_a_key_in_a_models_settings_is_refused_before_anything_shows_it():
    """Its place is told, and none of it."""
    member = {"name": "m", "settings": {"model": "m", "extra": {"api_key": "hunter2"}}}
    with pytest.raises(ConfigError, match=r"'extra.api_key' of a model holds a key.*Try: ") as caught:
        settings_from({"task": "t", "models": {"members": [member]}})
    assert "hunter2" not in str(caught.value)
