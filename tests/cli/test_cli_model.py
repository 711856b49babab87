"""Models as the command line names them, and `evolve model list`."""

import dataclasses
import json
import threading
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from evolve.cli import run as run_command
from evolve.cli.run import announce_calls
from evolve.hookspecs import ModelEntry
from evolve.model_specs import (
    parse_model,
    parse_models,
    read_campaign_file,
)
from evolve.plugins import Registered, load
from evolve.types import ConfigError


class Served(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: str
    base_url: str = ""


class Started(BaseModel):
    model_config = ConfigDict(extra="forbid")
    model: str
    url: str = ""


def never(settings):
    raise AssertionError("nothing is made")


@pytest.fixture(scope="module")
def plugins():
    entries = (
        ModelEntry("openai", never, Served, argument="model"),
        ModelEntry("vllm", never, Started, argument="model", concurrency=64),
        ModelEntry("oracle", never),
    )
    loaded = load(())
    return dataclasses.replace(
        loaded, models={**loaded.models, **{entry.name: Registered("test", entry) for entry in entries}}
    )


@pytest.mark.parametrize(
    ("spec", "name", "kind", "settings"),
    [
        ("gpt-5-mini", "gpt-5-mini", "openai", {"model": "gpt-5-mini"}),
        ("openai:gpt-5-mini", "gpt-5-mini", "openai", {"model": "gpt-5-mini"}),
        ("fast=gpt-5-mini", "fast", "openai", {"model": "gpt-5-mini"}),
        (
            "qwen3@http://127.0.0.1:8000/v1",
            "qwen3",
            "openai",
            {"model": "qwen3", "base_url": "http://127.0.0.1:8000/v1"},
        ),
        ("a@b@https://host/v1", "a@b", "openai", {"model": "a@b", "base_url": "https://host/v1"}),
        ("llama3:8b", "llama3:8b", "openai", {"model": "llama3:8b"}),
        ("openai:command-r:35b", "command-r:35b", "openai", {"model": "command-r:35b"}),
        ("command-r:35b@http://h/v1", "command-r:35b", "openai", {"model": "command-r:35b", "base_url": "http://h/v1"}),
        ("sonnet@20240620", "sonnet@20240620", "openai", {"model": "sonnet@20240620"}),
        ("@cf/meta/llama-3.1-8b", "@cf/meta/llama-3.1-8b", "openai", {"model": "@cf/meta/llama-3.1-8b"}),
        (
            "small=llama3:8b@http://[::1]:11434/v1",
            "small",
            "openai",
            {"model": "llama3:8b", "base_url": "http://[::1]:11434/v1"},
        ),
        ("vllm:org/name", "org/name", "vllm", {"model": "org/name"}),
        ("vllm:org/name@http://h:1/v1", "org/name", "vllm", {"model": "org/name", "url": "http://h:1/v1"}),
        ("command:ask --t=1 x@http://h", "command", "command", {"argv": "ask --t=1 x@http://h"}),
        (" me=command: ask 'a b' ", "me", "command", {"argv": "ask 'a b'"}),
        ("mailbox:/var/mail", "mailbox", "mailbox", {"folder": "/var/mail"}),
        ("big=cassette:/var/x=1.jsonl", "big", "cassette", {"path": "/var/x=1.jsonl"}),
    ],
)
def test_what_a_spec_says(plugins, spec, name, kind, settings):
    """Name, kind and one argument."""
    found = parse_model(spec, plugins)
    assert (found.name, found.kind, found.settings) == (name, kind, settings)


def test_a_path_is_stored_as_an_absolute_one(plugins, monkeypatch, tmp_path):
    """So that a campaign finds it from every folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert parse_model("mailbox:mail", plugins).settings == {"folder": f"{Path.cwd()}/mail"}
    assert parse_model("cassette:~/a.jsonl", plugins).settings == {"path": f"{tmp_path}/a.jsonl"}


def test_a_path_in_a_campaign_file_is_told_from_where_it_lies(plugins, tmp_path):
    """Of the kinds that there are; a misspelt kind is told of when the model is made."""
    (tmp_path / "search.toml").write_text(
        'schema = 1\n[models]\nmembers = [{ name = "a", kind = "mailbox", settings = { folder = "mail" } }, '
        '{ name = "b", settings = { model = "m" } }, { name = "c", kind = "mailbx", settings = { folder = "mail" } }]\n'
    )
    members = read_campaign_file(tmp_path / "search.toml", plugins)["models"]["members"]
    assert [one["settings"] for one in members] == [{"folder": f"{tmp_path}/mail"}, {"model": "m"}, {"folder": "mail"}]


def test_what_a_kind_says_of_itself_is_taken_over(plugins):
    """What nobody said stays unset, so that defaults and campaign files decide."""
    found = parse_model("vllm:org/name", plugins)
    assert found.concurrency == 64
    assert found.model_fields_set == {"name", "kind", "settings", "concurrency"}


def test_models_have_names_of_their_own(plugins):
    """Those that nobody named are numbered."""
    specs = ["gpt-5-mini", "gpt-5-mini@http://h/v1", "mailbox:a", "mailbox:b", "mailbox:c", "mailbox-2=mailbox:d"][:5]
    assert [found.name for found in parse_models(specs, plugins)] == [
        "gpt-5-mini",
        "gpt-5-mini-2",
        "mailbox",
        "mailbox-2",
        "mailbox-3",
    ]
    assert parse_models([], plugins) == ()


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        ([""], "--model '' names no model. Try: write NAME, NAME@URL, or KIND:ARGUMENT"),
        (["mailbox:"], "--model 'mailbox:' names no model"),
        (["fast="], "--model 'fast=' names no model"),
        (["@http://h/v1"], "--model '@http://h/v1' names no model"),
        (["http://127.0.0.1:8000/v1"], "--model 'http://127.0.0.1:8000/v1' names a server and no model"),
        (["openai:https://h/v1"], "--model 'openai:https://h/v1' names a server and no model"),
        (["oracle:Delphi"], "the kind of model 'oracle' takes no argument, got 'Delphi'"),
        (["http://me:hunter2@h/v1"], "--model 'http://...@h/v1' names a server and no model"),
        (["m@http://me:hunter2@h/v1"], "the setting 'base_url' of a model holds a key, or looks like one"),
        (
            ["comand:cat"],
            "there is no kind of model 'comand'. Did you mean 'command:'? Try: write command:cat, or openai:comand:cat",
        ),
        (["me=mailbx:mail"], "there is no kind of model 'mailbx'. Did you mean 'mailbox:'?"),
        (["m@127.0.0.1:18765"], "begins with neither http:// nor https://. Try: write MODEL@http://HOST:PORT/v1"),
        (["m@me:hunter2@127.0.0.1:8000"], "begins with neither"),
        (["foo@htp://x"], "begins with neither"),
        (["m@ftp://me:hunter2@h"], "begins with neither"),
        (["m@localhost"], "begins with neither"),
        (["me=m@gpu-3:8000/v1"], "begins with neither"),
        (["m@api.some.org/v1"], "begins with neither"),
        (["a=gpt", "a=qwen"], "two models are called 'a', got --model a=qwen. Try: give one another NAME="),
    ],
)
def test_a_spec_that_names_no_model_is_one_clear_error(plugins, specs, message):
    """It shows one that does."""
    with pytest.raises(ConfigError) as caught:
        parse_models(specs, plugins)
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_misspelt_kind_is_sent_to_nobody(call, monkeypatch):
    """Not even where a key would pay for it; and nothing is made."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    result = call("run", "circle_packing", "--model", "mailbx:mail", "--budget", "3programs")
    assert result.exit_code == 1
    assert "there is no kind of model 'mailbx'. Did you mean 'mailbox:'? Try: write mailbox:mail" in result.stderr
    assert "there is no campaign" in call("campaign", "list").stdout


def test_settings_that_a_kind_does_not_take_are_an_error_of_the_dry_run(call):
    """No model is made for that."""
    result = call("run", "circle_packing", "--dry-run", "--model", "command:'")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "model 'command': the settings of 'command' are not usable" in result.stderr


def test_a_slow_check_says_who_is_called(monkeypatch):
    """On one line of stderr, while it goes on."""
    told, lines = threading.Event(), []

    def say(text, *, err):
        lines.append((text, err))
        told.set()

    monkeypatch.setattr(run_command, "say", say)
    with announce_calls(["small", "large"], after=0.0):
        assert told.wait(30)
    assert lines == [("evolve: calling small, large ...", True)]


def test_a_quick_check_says_nothing(capsys):
    """It was over before."""
    with announce_calls(["small"], after=3600.0):
        pass
    assert capsys.readouterr().err == ""


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
