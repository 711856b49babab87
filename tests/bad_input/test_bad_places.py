"""Logs and disks that cannot be used: one clear message, and every committed record is kept."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import MORE, Call, checked, error_of, process

from evolve.log import Log

pytestmark = pytest.mark.integration


def test_a_locked_log_is_left_to_its_engine(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """Reading goes on meanwhile; an interrupt ends the engine with 130 and all that had settled."""
    with process("run", "number", "--budget", "500s", "--workers", "1", "--json") as running:
        assert running.stdout is not None
        first = json.loads(running.stdout.readline())
        refused = call("run", "--continue", "number", "--budget", "600s")
        shown = call("campaign", "show", "number")
        running.send_signal(signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert f"is locked: another engine (process {running.pid})" in error_of(refused)
    assert shown.exit_code == 0
    assert (running.returncode, first["id"]) == (130, 1)
    assert "Traceback" not in errors
    end = json.loads(out.splitlines()[-1])
    assert (end["reason"], end["records"]) == ("interrupted", len(out.splitlines()))
    assert len(digest("number")) == 64


def test_a_damaged_log_is_one_message(call: Call, home: Path, finished: str) -> None:
    """And is not written to; the list of campaigns goes on."""
    path = home / "archive" / "campaigns" / "number.db"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    for words in (["run", "--continue", "number", *MORE], ["campaign", "show", "number"], ["program", "list"]):
        assert "number.db is damaged" in error_of(call(*words))
    assert path.read_bytes() == content[: len(content) // 2]
    assert "number.db is damaged" in call("campaign", "list").stdout


def test_a_log_of_a_newer_version_is_one_message(call: Call, home: Path, finished: str) -> None:
    """That says to update."""
    with sqlite3.connect(home / "archive" / "campaigns" / "number.db") as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('evolve.log', '9999_later', '2099-01-01')"
        )
    connection.close()
    for words in (["run", "--continue", "number", *MORE], ["campaign", "show", "number"]):
        assert "was made by a newer version of evolve (it has 9999_later). Try: update" in error_of(call(*words))


def test_a_file_that_is_no_log_is_one_message(call: Call, home: Path, finished: str) -> None:
    """Whatever it is."""
    (home / "archive" / "campaigns" / "letter.db").write_text("dear reader, this is no database\n" * 200)
    assert "letter.db is no log of evolve" in error_of(call("run", "--continue", "letter", *MORE))


def test_a_workspace_that_is_a_file_is_one_message(call: Call, tmp_path: Path, home: Path) -> None:
    """And stays that file."""
    home.write_text("mine")
    result = call("run", "number", "--budget", "3programs", "--workers", "1")
    assert "Try: check the folder and its permissions and free space, or set EVOLVE_HOME" in error_of(result)
    assert home.read_text() == "mine"


LIMITED = (
    "import resource, signal, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)); "
    "from evolve.cli import main; main()"
)


def test_a_log_that_cannot_grow_loses_nothing(call: Call, home: Path, digest: Callable[[str], str]) -> None:
    """A limit on the size of files stands for a full disk: one message, a log that is whole, and it goes on."""
    command = [sys.executable, "-c", LIMITED, "run", "number", "--budget", "5000programs", "--workers", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "the disk is full or failing. Nothing that was committed is lost" in checked(ended.stderr)
    assert len(digest("number")) == 64
    with Log.open(home / "archive" / "campaigns" / "number.db", readonly=True) as log:
        events = list(log.events())
    assert len(events) > 2
    before = json.loads(call("campaign", "show", "--json").stdout)["programs"]
    more = call("run", "--continue", "--budget", f"{before + 5}programs", "--workers", "1")
    assert more.exit_code == 0, more.output
    with Log.open(home / "archive" / "campaigns" / "number.db", readonly=True) as log:
        assert list(log.events())[: len(events)] == events


def in_a_namespace(script: str, home: Path) -> "subprocess.CompletedProcess[str]":
    """A shell script that may mount file systems at $EVOLVE_HOME, which nobody else sees; `$evolve` is the command line."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    home.mkdir(exist_ok=True)
    probe = 'mount -t tmpfs none "$EVOLVE_HOME" && mount -o remount,ro "$EVOLVE_HOME"'
    try:
        possible = subprocess.run([*unshare, probe], capture_output=True, timeout=30).returncode == 0
    except FileNotFoundError:
        possible = False
    if not possible:
        pytest.skip("this system lets nobody mount a file system of their own (unshare --user --mount)")
    # In such a namespace root is the only user, and so no candidate could be another.
    environment = {**os.environ, "evolve": f"{sys.executable} -m evolve", "EVOLVE_SANDBOX": "reduced"}
    return subprocess.run([*unshare, script], capture_output=True, text=True, timeout=120, env=environment)


def test_a_full_disk_is_one_message_and_loses_nothing(home: Path) -> None:
    """With room again the campaign goes on from there."""
    script = """
        mount -t tmpfs -o size=400k none "$EVOLVE_HOME"
        $evolve run number --budget 5000programs --workers 1 >/dev/null; echo code $?
        $evolve campaign replay number --json
        mount -o remount,size=64m "$EVOLVE_HOME"
        $evolve run --continue number --budget 400programs --workers 1 >/dev/null; echo code $?
        $evolve campaign replay number --json
    """
    ended = in_a_namespace(script, home)
    first, replayed, second, later = ended.stdout.splitlines()
    assert "the disk is full" in checked(ended.stderr)
    assert (first, second) == ("code 1", "code 0")
    kept, grown = json.loads(replayed), json.loads(later)
    assert (kept["equal"], grown["equal"]) == (True, True)
    assert 0 < kept["records"] < grown["records"]


def test_a_disk_that_is_full_from_the_start_is_one_message(home: Path) -> None:
    """And no file of a campaign stays; what the workspace draws instances by may."""
    script = """
        mount -t tmpfs -o size=16k none "$EVOLVE_HOME"
        $evolve run number --budget 3programs --workers 1; echo code $?
        find "$EVOLVE_HOME" -type f ! -path "$EVOLVE_HOME/archive/secret"
    """
    ended = in_a_namespace(script, home)
    assert ended.stdout.splitlines() == ["code 1"]
    assert "full" in checked(ended.stderr)


def test_a_read_only_workspace_is_one_message(home: Path, finished: str) -> None:
    """To write; it can be read."""
    script = """
        mount --bind "$EVOLVE_HOME" "$EVOLVE_HOME" && mount -o remount,ro,bind "$EVOLVE_HOME"
        $evolve run number --budget 3programs --workers 1 2>new; echo code $?
        $evolve run --continue number --budget 9programs --workers 1 2>more; echo code $?
        $evolve campaign replay number >/dev/null; echo code $?
    """
    ended = in_a_namespace(script, home)
    assert ended.stdout.splitlines() == ["code 1", "code 1", "code 0"]
    for file in ("new", "more"):
        assert "cannot be opened for writing: Read-only file system" in checked(Path(file).read_text())
