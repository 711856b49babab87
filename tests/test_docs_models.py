"""The page about models: every key of a member, every kind and its settings stand in it, and its files are campaign files."""

import json
import re

import pytest

from evolve import plugins
from evolve.campaign import file
from evolve.config import ModelSection, validated
from tests.pages import read_chapter

PAGE = read_chapter("models", "Models")
ROW = re.compile(r"^\| `(\w+)` \| (?:`(.+?)`|required) \| .+ \|$", re.MULTILINE)
LOCAL = ("mailbox", "command", "cassette")


def section(heading: str) -> str:
    """The text under a heading, up to the next one of its rank."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"docs/models.md has no heading {heading!r}"
    return found[1]


def defaults(fields) -> dict[str, str]:
    """Every field with its default as JSON; empty for one that is required."""
    return {
        name: "" if field.is_required() else json.dumps(field.get_default(call_default_factory=True))
        for name, field in fields.items()
    }


def test_every_key_of_a_member_is_told_with_its_default():
    """And no other key."""
    assert dict(ROW.findall(section("Members in a campaign file"))) == defaults(ModelSection.model_fields)


@pytest.mark.parametrize("kind", LOCAL)
def test_every_setting_of_a_kind_is_told_with_its_default(kind):
    """Under the heading of its kind."""
    entry = plugins.load(()).model_kind(kind)
    assert entry.settings is not None
    assert dict(ROW.findall(section(f"`{kind}`"))) == defaults(entry.settings.model_fields)


def test_every_kind_has_its_row():
    """Those that come with the engine."""
    rows = set(re.findall(r"^\| \[?`(\w+)`", section("Which kind"), re.MULTILINE))
    found = plugins.load(()).models
    assert {kind for kind, registered in found.items() if registered.plugin in plugins.BUNDLED} <= rows


@pytest.mark.parametrize("name", ["models.toml"])
def test_the_campaign_files_of_the_page_are_such(tmp_path, name):
    """Their members have settings that their kinds take, as far as this installation has the kinds."""
    (text,) = re.findall(rf"^```toml\n# {name}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / name).write_text(text, "utf-8")
    members = validated({"task": "none", **file.read(tmp_path / name)}).models.members
    known = plugins.load(()).models
    assert members
    for member in members:
        entry = known[member.kind].entry if member.kind in known else None
        assert entry is None or entry.settings is None or entry.settings.model_validate(member.settings)
