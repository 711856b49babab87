"""`evolve view` prints one address, serves it, and ends quietly."""

import os
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.written import short_campaign

pytestmark = pytest.mark.integration


def started(home: Path, *words: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", "view", *words],
        env={**os.environ, "EVOLVE_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """After Ctrl-C: its exit code, and the rest of what it wrote."""
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=30)
    return process.returncode, rest, errors


def status(address: str, path: str) -> int:
    """What the server answers who has no token."""
    connection = HTTPConnection(address, timeout=20)
    connection.request("GET", path)
    found = connection.getresponse().status
    connection.close()
    return found


@pytest.mark.parametrize("named", ["", "number", "path"])
def test_it_prints_an_address_with_a_token_and_ends_with_0(tmp_path, named):
    short_campaign(tmp_path).close()
    log = tmp_path / "archive" / "campaigns" / "number.db"
    process = started(
        tmp_path if named != "path" else tmp_path / "empty",
        *([str(log) if named == "path" else named] if named else []),
    )
    assert process.stdout is not None
    address, _, token = process.stdout.readline().strip().removeprefix("http://").partition("?token=")
    host, _, path = address.partition("/")
    assert (path, len(token)) == ("c/number" if named else "", 32)
    assert (status(host, f"/{path}?token={token}"), status(host, f"/{path}")) == (303, 403)
    code, rest, errors = ended(process)
    assert (code, rest) == (0, "")
    home = tmp_path if named != "path" else tmp_path / "empty"
    assert errors == f"all campaigns of {home}; Ctrl-C ends the server\n"


def test_a_campaign_that_is_not_there_is_an_error_in_one_line(call, home):
    result = call("view", "nowhere")
    assert result.exit_code == 1
    assert "there is no campaign 'nowhere'" in result.stderr


def test_a_port_that_is_taken_is_an_error_with_the_remedy(tmp_path):
    first = started(tmp_path)
    assert first.stdout is not None
    port = first.stdout.readline().partition(":")[2].partition("/?")[0].rpartition(":")[2]
    second = started(tmp_path, "--port", port)
    _, errors = second.communicate(timeout=30)
    assert second.returncode == 1
    assert f"port {port} of 127.0.0.1 cannot be used" in errors
    assert ended(first)[0] == 0
