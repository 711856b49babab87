"""`evolve model ping`."""

import json
import re
import socket
from dataclasses import dataclass

import pytest

from evolve.types import Usage
from tests.models.fault_server import MODEL, FaultServer, failure


def test_a_model_that_can_be_called(call, home):
    """Its kind, its settings, and how long it took."""
    result = call("model", "ping", f"mailbox:{home}/mail", "me=command:cat -")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["model", "mailbox", "(mailbox)"]
    assert lines[1] == ["settings", f'folder="{home}/mail"']
    assert lines[2][:5] == ["can", "be", "called", "yes,", "found"]
    assert lines[4] == ["model", "me", "(command)"]
    (found,) = map(json.loads, call("model", "ping", "command:cat", "--json").stdout.splitlines())
    assert (found["name"], found["kind"], found["settings"], found["error"]) == (
        "command",
        "command",
        {"argv": "cat"},
        "",
    )


def test_one_that_cannot_be_called_is_an_error(call, home):
    """Others are called all the same, and each failure is told."""
    words = ("cassette:nowhere", "command:cat", "command:no-such-program")
    result = call("model", "ping", *words)
    assert result.exit_code == 1
    assert result.stdout.startswith("\nmodel          command (command)\n")
    assert f"evolve: model 'cassette': the cassette '{home}/elsewhere/nowhere' cannot be used" in result.stderr
    assert "evolve: error: model 'command-2': there is no program 'no-such-program'" in result.stderr
    result = call("model", "ping", *words, "--json")
    assert [bool(json.loads(line)["error"]) for line in result.stdout.splitlines()] == [True, False, True]


def test_the_models_of_a_campaign_file(call, home):
    """All of them."""
    (home / "search.toml").write_text(
        'schema = 1\n[[models.members]]\nname = "me"\nkind = "command"\nsettings = { argv = ["cat"] }\n'
    )
    assert "me (command)" in call("model", "ping", "-c", str(home / "search.toml")).stdout
    (home / "none.toml").write_text("schema = 1\n")
    result = call("model", "ping", "-c", str(home / "none.toml"))
    assert "evolve: error: there is no model to call. Do: name one, such as gpt-5-mini" in result.stderr


@dataclass(frozen=True)
class Row:
    streaming: bool
    context_tokens: int | None
    models: tuple[str, ...]
    server: str


class Able:
    """A model that finds out what its server can."""

    closed = False

    def check(self, deadline, cancelled):
        return Usage(9, 3)

    def complete(self, prompt, *, samples, deadline, cancelled):
        raise AssertionError("it is only looked at")

    def capabilities(self, deadline, cancelled):
        return Row(True, None, ("a", "b"), "fast 2.0")

    def close(self):
        self.closed = True


@pytest.fixture
def able(monkeypatch):
    """In the place of every model."""
    made = Able()
    monkeypatch.setattr("evolve.plugins.Plugins.model", lambda self, kind, settings: made)
    return made


def test_what_a_model_can_is_told(call, able):
    """For the kinds that find it out; the model is closed then."""
    lines = call("model", "ping", "command:x").stdout.splitlines()
    assert lines[2].endswith(", 12 tokens")
    assert [line.split(maxsplit=1) for line in lines[3:4]] == [["streaming", "yes"]]
    assert lines[4:] == ["context tokens  unknown", "models          a, b", "server          fast 2.0"]
    assert able.closed
    found = json.loads(call("model", "ping", "command:x", "--json").stdout)
    assert found["capabilities"] == {
        "streaming": True,
        "context_tokens": None,
        "models": ["a", "b"],
        "server": "fast 2.0",
    }


def test_a_misspelt_kind_in_a_campaign_file_is_told_with_the_failure(call, home, monkeypatch):
    """The name of a model may have a colon, too."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    member = '[[models.members]]\nname = "m"\nsettings = { model = "comand:cat" }\n'
    (home / "search.toml").write_text(f"schema = 1\n{member}")
    result = call("model", "ping", "-c", str(home / "search.toml"))
    assert result.exit_code == 1
    assert "evolve: error: model 'm': no key for api.openai.com" in result.stderr
    assert "is not set. Did you mean 'command:'? Do: " in result.stderr


def test_a_server_is_tried_out(call):
    """What it can, in a row."""
    with FaultServer() as server:
        result = call("model", "ping", f"{MODEL}@{server.url}")
        found = json.loads(call("model", "ping", f"me={MODEL}@{server.url}", "--json").stdout)
    assert result.exit_code == 0, result.output
    told = dict(re.split(r"  +", line) for line in result.stdout.splitlines())
    assert told["model"] == f"{MODEL} (openai)"
    assert (told["models"], told["streaming"], told["usage"], told["context tokens"]) == (
        MODEL,
        "yes",
        "yes",
        "unknown",
    )
    assert (found["name"], found["capabilities"]["n"], found["capabilities"]["json_schema"]) == ("me", True, False)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (failure(401, "no such key", "invalid_api_key"), "key"),
        (failure(404, "no such model", "model_not_found"), "404"),
    ],
)
def test_what_a_server_refuses_is_one_clear_error(call, step, words):
    """With what to do."""
    with FaultServer(last=step) as server:
        result = call("model", "ping", f"{MODEL}@{server.url}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"evolve: error: model '{MODEL}'")
    assert words in result.stderr
    assert " Do: " in result.stderr


def test_a_refused_connection_is_told_once_with_the_name(call):
    """After a few tries."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        result = call("model", "ping", f"q@http://127.0.0.1:{port}/v1")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("evolve: error: model 'q' at 127.0.0.1: ")


def test_a_vllm_server_that_runs_is_tried_out_as_any_other(call):
    """Its capabilities are told, too."""
    with FaultServer() as server:
        found = json.loads(call("model", "ping", f"vllm:{MODEL}@{server.url}", "--json").stdout)
    assert (found["error"], found["capabilities"]["streaming"], found["capabilities"]["n"]) == ("", True, True)


def test_what_a_server_says_of_itself_is_short_lines(call, able, monkeypatch):
    """It may claim anything."""
    liar = Row(True, None, ("a\nevolve: error: no", "b" * 500), "x\x1b[2J\nevolve: error: " + "y" * 500)
    monkeypatch.setattr(able, "capabilities", lambda deadline, cancelled: liar, raising=False)
    lines = call("model", "ping", "command:x").stdout.splitlines()
    assert len(lines) == 7
    assert lines[5].startswith("models          a evolve: error: no, bbb")
    assert lines[6].startswith("server          x evolve: error: yyy")
    assert max(map(len, lines)) < 250
