"""Campaign files: what a person may write, and what an existing campaign is written down as."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evolve.campaign import file
from evolve.campaign.settings import with_resource
from evolve.config import Settings, settings_from
from evolve.types import ConfigError
from tests.written import Written, number_task


def said(folder: Path, text: str) -> dict[str, Any]:
    """What a file with this text says."""
    path = folder / "search.toml"
    path.write_text(text, "utf-8")
    return file.read(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ('budget = "2h"', {"budget": ["2h"]}),
        ('budget = ["2h", "500programs"]', {"budget": ["2h", "500programs"]}),
        ('strategy = "random"', {"strategy": {"name": "random"}}),
        ("[strategy.settings]\ninspirations = 3", {"strategy": {"settings": {"inspirations": 3}}}),
        ('trackers = ["a", "b"]', {"trackers": {"names": ["a", "b"]}}),
        (
            '[trackers]\nnames = ["a"]\nsettings.a = { b = 1 }',
            {"trackers": {"names": ["a"], "settings": {"a": {"b": 1}}}},
        ),
        ('operators = ["a", "b"]', {"operators": {"names": ["a", "b"]}}),
        (
            '[operators]\nnames = ["a"]\n[operators.settings.a]\nsigma = 0.5',
            {"operators": {"names": ["a"], "settings": {"a": {"sigma": 0.5}}}},
        ),
        ("[parameters]\nn = 3\n[archive]\nislands = 2", {"parameters": {"n": 3}, "archive": {"islands": 2}}),
    ],
)
def test_a_file_is_read_in_the_shape_that_a_person_likes(
    tmp_path: Path, text: str, expected: Mapping[str, Any]
) -> None:
    """Names and texts stand for tables and lists."""
    assert said(tmp_path, f"schema = 1\n{text}\n") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "which version it is written for, which is missing. Try: write schema = 1"),
        ("schema = 2", "which version it is written for, got 2. Try: write schema = 1"),
        ("schema = 1\nstratgy = 'x'", "unknown setting 'stratgy'. Did you mean 'strategy'?"),
        ("schema = 1\n[archive]\nilands = 2", "unknown setting 'archive.ilands'. Did you mean 'islands'?"),
        ("schema = 1\n[archive]\nislands = 0", "setting 'archive.islands' is at least 1, got 0"),
        ("schema = 1\narchive = 3", "setting 'archive': "),
        ("schema = 1\nseed = 'x'", "setting 'seed' is a whole number, got 'x'"),
        ("schema = 1\nbudget = 60", "setting 'budget' is a list"),
        ("schema = 1\nbudget = ['2h', 3]", "setting 'budget.1' is a text, got 3"),
        ("schema = 1\nstrategy = 3", "setting 'strategy': "),
        ("schema = 1\n[strategy]\nx = 1", "unknown setting 'strategy.x'."),
        ("schema = 1\noperators = 'a'", "setting 'operators': "),
        ("schema = 1\n[operators]\nname = ['a']", "unknown setting 'operators.name'. Did you mean 'names'?"),
        ("schema = 1\ntask = 3", "setting 'task' is a text, got 3"),
        ("schema = ", "this is not TOML"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_message_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    """And the key, what was got and what to do."""
    with pytest.raises(ConfigError) as caught:
        said(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'search.toml'}: ")
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_message(tmp_path: Path) -> None:
    """Missing, or in another encoding; a byte order mark is no matter."""
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        file.read(tmp_path / "nothing.toml")
    (tmp_path / "odd.toml").write_bytes("schema = 1".encode("utf-16"))
    with pytest.raises(ConfigError, match=r"odd.toml: this is not a text in UTF-8"):
        file.read(tmp_path / "odd.toml")
    (tmp_path / "marked.toml").write_bytes(b"\xef\xbb\xbfschema = 1\n")
    assert file.read(tmp_path / "marked.toml") == {}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("circle_packing", "circle_packing"),
        ("mine", "{folder}/tasks/mine"),
        ("./tasks/mine", "{folder}/tasks/mine"),
        ("tasks/mine", "{folder}/tasks/mine"),
        ("tasks/none", "{folder}/tasks/none"),
        ("none", "none"),
    ],
)
def test_a_task_is_named_from_where_the_file_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, expected: str
) -> None:
    """Wherever the command line is used; a name may also be that of a bundled task."""
    monkeypatch.chdir("/")
    (tmp_path / "tasks" / "mine").mkdir(parents=True)
    (tmp_path / "tasks" / "mine" / "task.toml").write_text("schema = 1\n")
    assert said(tmp_path, f'schema = 1\ntask = "{written}"\n')["task"] == expected.format(folder=tmp_path)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"budget": []},
    {"budget": ["60s", "500programs", "fitness=2.5"], "seed": 7, "workers": 17, "deterministic": False},
    {"strategy": {"name": "random"}},
    {"strategy": {"name": "islands", "settings": {"inspirations": 3}}},
    {"operators": {"names": ["tune_literals", "perturb_literals"]}},
    {"operators": {"settings": {"tune_literals": {"sigma": 0.5}}}, "archive": {"islands": 2}, "confirm": {"z": 1.5}},
    {"operators": {"names": ["tune_literals"], "settings": {"tune_literals": {"sigma": 0.5, "population": 8}}}},
    {
        "models": {
            "choice": "weights",
            "members": [
                {"name": "fast", "settings": {"model": "m", "base_url": "http://127.0.0.1:1/v1"}, "prompt_price": 0.5},
                {"name": "tape", "kind": "cassette", "settings": {"path": "a"}, "weight": 2.0},
            ],
        }
    },
    {"parameters": {"n": 3, "law": 'uni"form', "wide": True}},
    {"prompts": {"templates": {"repair": "Again:\n\n{{reason}}\n"}, "tokens": 9000}},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_written_is_read_as_the_same_settings(tmp_path: Path, settings: Mapping[str, Any]) -> None:
    """All but the path of the task, which is told from where the file lies."""
    with Written(tmp_path, **settings).campaign as campaign:
        read = said(tmp_path, file.format_file(campaign, tmp_path))
        again = settings_from(read)
        assert read["task"] == campaign.task.folder
        filled = with_resource(again, campaign.task, campaign.plugins)
        assert filled.model_copy(update={"task": "number"}) == campaign.settings


def test_what_is_written_is_the_task_and_what_differs_from_the_defaults(tmp_path: Path) -> None:
    """In the order of the settings, in the shape that a person likes."""
    wanted = {"budget": ["60s"], "seed": 3, "workers": Settings(task="x").workers, "archive": {"islands": 2}}
    with Written(tmp_path, number_task(folder=str(tmp_path / "tasks" / "number")), **wanted).campaign as campaign:
        assert file.format_file(campaign, tmp_path / "searches") == (
            "# The search of campaign number. Run it again: evolve run -c FILE\n"
            'schema = 1\ntask = "../tasks/number"\nseed = 3\nbudget = [\n    "60s",\n]\n\n[archive]\nislands = 2\n'
        )
        assert f'task = "{tmp_path}/tasks/number"' in file.format_file(campaign, None)


def test_a_time_of_the_day_is_written_as_it_was_given(tmp_path: Path) -> None:
    """The next run has its own such time."""
    with Written(tmp_path, budget=["until=07:30"]).campaign as campaign:
        assert campaign.settings.budget != ("until=07:30",)
        assert '"until=07:30"' in file.format_file(campaign, None)


def test_a_task_in_one_file_is_written_and_read_by_that_file(tmp_path: Path) -> None:
    """From where the campaign file lies."""
    (tmp_path / "tasks").mkdir()
    problem = tmp_path / "tasks" / "problem.py"
    problem.write_text("")
    task = number_task(folder=str(problem.parent), one_file=problem.name)
    with Written(tmp_path, task).campaign as campaign:
        text = file.format_file(campaign, tmp_path)
    assert tomllib.loads(text)["task"] == "./tasks/problem.py"
    assert said(tmp_path, text)["task"] == str(problem)


def test_a_bundled_task_is_written_by_its_name(tmp_path: Path) -> None:
    """It is there on every machine."""
    folder = Path(__file__).parents[2] / "tasks" / "circle_packing"
    with Written(tmp_path, number_task(folder=str(folder), name="circle_packing")).campaign as campaign:
        assert tomllib.loads(file.format_file(campaign, tmp_path))["task"] == "circle_packing"


def test_a_folder_of_templates_is_found_from_where_the_file_lies(tmp_path: Path) -> None:
    """An absolute one is where it is; none is none."""
    places = {"mine": str(tmp_path / "mine"), "/mine": "/mine", "": ""}
    told = {
        given: said(tmp_path, f'schema = 1\n[prompts]\nfolder = "{given}"')["prompts"]["folder"] for given in places
    }
    assert told == places
