"""`evolve model ping`."""

import json
import re
import socket

import pytest

from tests.models.fault_server import MODEL, FaultServer, failure

pytestmark = pytest.mark.integration


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
    assert result.stdout.startswith("model          command (command)\n")
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
    assert "evolve: error: there is no model to call. Try: name one, such as gpt-5-mini" in result.stderr


def test_a_server_that_answers_can_be_called(call):
    """Its settings and what the call took stand below its name."""
    with FaultServer() as server:
        result = call("model", "ping", f"{MODEL}@{server.url}")
        found = json.loads(call("model", "ping", f"me={MODEL}@{server.url}", "--json").stdout)
    assert result.exit_code == 0, result.output
    told = dict(re.split(r"  +", line) for line in result.stdout.splitlines() if line)
    assert list(told) == ["model", "settings", "can be called"]
    assert told["model"] == f"{MODEL} (openai)"
    assert re.fullmatch(r"yes, found out in \d+\.\d\d s, \d+ tokens", told["can be called"])
    assert (found["name"], found["error"], found["tokens"] > 0) == ("me", "", True)


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
    assert " Try: " in result.stderr


def test_a_refused_connection_is_told_once_with_the_name(call):
    """After a few tries."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        result = call("model", "ping", f"q@http://127.0.0.1:{port}/v1")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith("evolve: error: model 'q' at 127.0.0.1: ")
