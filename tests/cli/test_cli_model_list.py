"""`evolve model list`."""

import json

from evolve.cli.model_specs import parse_model
from evolve.plugins import load
from tests.written import Written

FILE = """
schema = 1
task = "circle_packing"

[[models.members]]
name = "me"
kind = "mailbox"
weight = 2
settings = { folder = "mail" }
"""


def test_the_kinds_are_listed_with_their_settings(call):
    """By people and by programs."""
    lines = {line.split()[0]: line for line in call("model").stdout.splitlines()}
    assert lines["mailbox"].split() == ["mailbox", "evolve.models", "mailbox:FOLDER", "8", "folder"]
    kinds = {kind["kind"]: kind for kind in map(json.loads, call("model", "list", "--json").stdout.splitlines())}
    assert kinds["command"] == {
        "kind": "command",
        "plugin": "evolve.models",
        "argument": "argv",
        "settings": {"argv": None, "format": "text", "environment": []},
        "concurrency": 4,
        "priced": False,
        "embeds": False,
    }


def test_the_models_of_a_campaign_file(call, home):
    """A path that ends in .toml."""
    (home / "search.toml").write_text(FILE)
    listed = call("model", "list", str(home / "search.toml"))
    assert listed.exit_code == 0, listed.output
    assert listed.stdout.splitlines()[1].split() == ["me", "mailbox", "2", "8", "16,384", f'folder="{home}/mail"']
    (found,) = map(json.loads, call("model", "list", str(home / "search.toml"), "--json").stdout.splitlines())
    assert (found["name"], found["kind"], found["settings"]) == ("me", "mailbox", {"folder": f"{home}/mail"})


def test_the_models_of_a_campaign(call, home):
    """Those that it has now; one may have none."""
    section = parse_model("me=mailbox:/mail", load(())).model_dump()
    Written(home, models={"members": [section]}).campaign.close()
    assert "me     mailbox" in call("model", "list", "number").stdout
    Written(home, name="plain").campaign.close()
    assert call("model", "list", "plain").stdout == "plain has no models\n"


def test_an_unknown_campaign_is_one_clear_error(call):
    """As everywhere."""
    result = call("model", "list", "nothing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "evolve: error: there is no campaign 'nothing'" in result.stderr
