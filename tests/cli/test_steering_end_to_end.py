"""Adding programs, asking a running campaign, and judging again by a mended evaluator, with real judge processes."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.log import Log
from evolve.plugins import load
from evolve.types import Lesson, Settled, TaskChanged

pytestmark = pytest.mark.integration

TOML = """schema = 1
deterministic = true
[fitness]
name = "nearness"
digits = 6
[[axes]]
name = "bonus"
low = 0
high = 2
bins = 2
[[stages]]
name = "evaluate"
seconds = 5
"""
ACCEPTS_A_CHEAT = """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    number, bonus = candidate.call("value")
    return Evaluation.ok(bonus - abs(number - 7.0), descriptors={"bonus": bonus}, metrics={"number": number})
"""
MENDED = ACCEPTS_A_CHEAT.replace(
    "    return", '    if bonus > 1.0:\n        return Evaluation.wrong("a bonus above 1")\n    return'
)
MINE = "def value():\n    return [6.75, 0.5]\n"


@pytest.fixture
def folder(home: Path) -> Path:
    """The task folder `number`: a program returns a number and what it says that it deserves."""
    folder = home / "elsewhere" / "tasks" / "number"
    folder.mkdir(parents=True)
    for name, text in {
        "task.toml": TOML,
        "README.md": "Find the number.\n",
        "seed.py": "def value():\n    return [5.0, 0.9]\n",
        "evaluator.py": ACCEPTS_A_CHEAT,
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def ran(call, folder) -> Path:
    """A campaign of a few programs has ended; the task's folder."""
    assert call("run", "number", "--budget", "12programs", "--workers", "1").exit_code == 0
    return folder


def log(home: Path) -> Path:
    return home / "archive" / "campaigns" / "number.db"


def test_a_mended_evaluator_makes_the_best_honest(call, home, folder):
    """What it costs is said first, the history is kept, and the search goes on from what is honest."""
    assert call("run", "number", "--budget", "120programs", "--workers", "1").exit_code == 0
    before = json.loads(call("campaign", "show", "number", "--json").stdout)
    cheat = call("program", "show", before["best"]["name"], "--json").stdout
    assert json.loads(cheat)["descriptors"]["bonus"] > 1.0
    (folder / "evaluator.py").write_text(MENDED)

    refused = call("run", "number", "--continue", "number", "--budget", "130programs")
    assert "has changed since campaign 'number' began" in refused.stderr
    assert "evolve campaign rejudge number" in refused.stderr

    dry = call("campaign", "rejudge", "number", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "to evaluate  " in dry.stdout
    assert " on 1 worker" in dry.stdout
    with Log.open(log(home), readonly=True) as opened:
        assert list(opened.events(only=TaskChanged)) == []

    result = call("campaign", "rejudge", "number", "--elites", "--json")
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert (lines[0]["event"], lines[-1]["event"]) == ("estimate", "ended")
    assert lines[0]["programs"] == sum(lines[-1]["outcomes"].values()) == len(lines) - 2
    assert lines[-1]["outcomes"]["wrong"] > 0
    assert lines[-1]["former_best"] == before["best"]["name"]
    honest = json.loads(call("program", "show", lines[-1]["best"]["name"], "--json").stdout)
    assert honest["descriptors"]["bonus"] <= 1.0
    assert [line["kind"] for line in lines[1:-1]].count("seed") == 1

    assert call("program", "show", before["best"]["name"], "--json").stdout != ""
    after = json.loads(call("campaign", "show", "number", "--json").stdout)
    assert (after["programs"], after["former_records"]) == (120, before["records"])
    assert call("campaign", "replay", "number").exit_code == 0
    lineage = call("program", "lineage", lines[-1]["best"]["name"]).stdout.splitlines()
    assert lineage[1].startswith("number/1 ")
    assert lineage[-1].startswith(f"number/{honest['record']['about']} ")

    more = call("run", "number", "--continue", "number", "--budget", "130programs", "--workers", "1")
    assert more.exit_code == 0, more.output
    with Campaign.open("number", load(), home) as campaign:
        assert campaign.state.archive.best.descriptors["bonus"] <= 1.0
        assert campaign.state.difference is None


def test_a_second_rejudging_has_nothing_to_do(call, ran):
    """But with --all it judges what is left."""
    (ran / "evaluator.py").write_text(MENDED)
    first = call("campaign", "rejudge", "number")
    assert "evaluated    ok" in first.stdout
    assert "nothing: this version has evaluated all of it already" in call("campaign", "rejudge", "number").stdout
    assert "evaluated    ok" in call("campaign", "rejudge", "number", "--all").stdout
    assert "nothing: this version" in call("campaign", "rejudge", "number", "--all").stdout
    assert "records are an earlier version's" in call("campaign", "show", "number").stdout


def test_an_evaluator_that_does_not_load_changes_nothing(call, home, ran):
    """The judges are tried before the log is written."""
    (ran / "evaluator.py").write_text("import no_such_module\n")
    with Log.open(log(home), readonly=True) as opened:
        before = opened.count()
    result = call("campaign", "rejudge", "number")
    assert result.exit_code == 1
    assert "does not load: ModuleNotFoundError" in result.stderr
    with Log.open(log(home), readonly=True) as opened:
        assert opened.count() == before


def test_a_seed_that_the_newer_version_refuses_is_its_error(call, ran):
    """The history is kept, and a third version can judge."""
    (ran / "evaluator.py").write_text(MENDED.replace("> 1.0", "> -1.0"))
    result = call("campaign", "rejudge", "number")
    assert result.exit_code == 1
    assert "the seed of task 'number' fails its own evaluator: wrong: a bonus above 1" in result.stderr
    assert "the same command goes on with what is missing" in result.stderr
    (ran / "evaluator.py").write_text(MENDED)
    assert call("campaign", "rejudge", "number").exit_code == 0


def test_a_program_of_ones_own_is_judged_and_stored(call, home, ran, tmp_path):
    """Whatever its file is called."""
    (tmp_path / "mine.txt").write_text(MINE)
    result = call(
        "program", "add", tmp_path / "mine.txt", "--campaign", "number", "--thought", "closer", "--parent", "1"
    )
    assert result.exit_code == 0, result.output
    with Log.open(log(home), readonly=True) as opened:
        record = [stamped.event for stamped in opened.events(only=Settled)][-1].record
    assert (record.origin.kind, record.origin.parents, record.thought) == ("import", (1,), "closer")
    assert re.search(rf"program +number/{record.id} ", result.stdout)
    assert re.search(r"score +nearness 0.25 ", result.stdout)
    assert "import" in call("program", "lineage", f"number/{record.id}").stdout
    assert call("campaign", "replay", "number").exit_code == 0
    again = call("program", "add", tmp_path / "mine.txt")
    assert again.exit_code == 1
    assert f"the program is known: it is number/{record.id}." in again.stderr
    shown = json.loads(call("campaign", "show", "number", "--json").stdout)
    assert shown["programs"] == 12


def test_a_program_is_read_from_a_folder_or_stdin(call, ran, tmp_path, monkeypatch):
    """As JSON: what came of it."""
    (tmp_path / "mine" / "__pycache__").mkdir(parents=True)
    (tmp_path / "mine" / "__pycache__" / "seed.pyc").write_bytes(b"\xff")
    (tmp_path / "mine" / ".hidden").write_text("no")
    (tmp_path / "mine" / "seed.py").write_text(MINE)
    found = json.loads(call("program", "add", tmp_path / "mine", "--json").stdout)
    assert (found["outcome"], found["fitness"], found["insertion"]) == ("ok", 0.25, found["insertion"])
    piped = subprocess.run(
        [sys.executable, "-m", "evolve", "program", "add", "-", "--json"],
        input=MINE.replace("6.75", "6.5"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout)["fitness"] == 0.0


def test_a_program_that_fails_is_a_record_too(call, ran, tmp_path):
    """But no success."""
    (tmp_path / "mine.py").write_text("def value():\n    return 1 / 0\n")
    result = call("program", "add", tmp_path / "mine.py")
    assert (result.exit_code, "crashed" in result.stdout) == (1, True)
    assert "--feedback prints the rest" in result.stdout


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"nothing": None}, "nothing cannot be read: No such file or directory. Try: check the path"),
        ({"mine.py": b"\xff\xfe"}, "mine.py is no text in UTF-8"),
        ({"seed.py": b"x = 1\n", "more.py": b"y = 1\n"}, "it adds a file 'more.py', and the task allows no new one"),
        ({"seed.py": b"#" * (17 << 20)}, "a program is at most 16 MiB of text"),
    ],
)
def test_what_is_no_program_of_the_task_is_refused(call, home, ran, tmp_path, files, message):
    """One line; the log is as it was."""
    for name, content in files.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
    with Log.open(log(home), readonly=True) as opened:
        before = opened.count()
    result = call("program", "add", *(tmp_path / name for name in files))
    assert result.exit_code == 1
    assert message in result.stderr
    with Log.open(log(home), readonly=True) as opened:
        assert opened.count() == before


def test_a_program_for_a_task_that_has_changed_is_refused(call, home, ran, tmp_path):
    """With the remedy, before it is in the log."""
    (tmp_path / "mine.py").write_text(MINE)
    (ran / "evaluator.py").write_text(MENDED)
    result = call("program", "add", tmp_path / "mine.py")
    assert result.exit_code == 1
    assert "has changed since the campaign began" in result.stderr
    assert "evolve campaign rejudge" in result.stderr
    with Campaign.open("number", load(), home) as campaign:
        assert campaign.state.steps == {}


def start(home: Path, *words: str) -> "subprocess.Popen[str]":
    """The command line in a process of its own; what it says is read at its end."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home / "elsewhere",
        env={**os.environ, "EVOLVE_HOME": str(home)},
    )


def until_it_runs(home: Path, process: "subprocess.Popen[str]") -> None:
    """Waits for the first record."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if log(home).exists():
            with Log.open(log(home), readonly=True) as opened:
                if next(opened.events(only=Settled), None) is not None:
                    return
        time.sleep(0.05)
    raise AssertionError("the campaign does not run")


def test_a_running_campaign_is_steered_and_stopped(call, home, folder, tmp_path):
    """It judges a program with its own judges, and ends as if it had been interrupted."""
    (tmp_path / "mine.py").write_text(MINE)
    with start(home, "run", "number", "--budget", "500s", "--workers", "1") as process:
        until_it_runs(home, process)
        hint = call("campaign", "hint", "number", "look near 7")
        assert (hint.exit_code, "written down as lesson 1" in hint.stdout) == (0, True), hint.output
        added = call("program", "add", tmp_path / "mine.py", "--json")
        assert added.exit_code == 0, added.output
        mine = json.loads(added.stdout)
        ruled = call("program", "quarantine", mine["name"])
        assert f"quarantined: {mine['name']}" in ruled.stdout, ruled.output
        refused = call("program", "quarantine", "number/1000000")
        assert (refused.exit_code, "has no record 1000000" in refused.stderr) == (1, True)
        busy = call("campaign", "rejudge", "number")
        assert (busy.exit_code, "is locked: another engine" in busy.stderr) == (1, True)
        assert call("campaign", "fork", "number", "--name", "aside").exit_code == 0
        stopped = call("campaign", "stop", "number")
        assert "it ends as soon as what is being evaluated is done" in stopped.stdout, stopped.output
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "it was stopped by request (evolve campaign stop)" in out
    assert mine["outcome"] == "ok"
    with Campaign.open("number", load(), home) as campaign:
        assert campaign.state.difference is None
        assert campaign.state.lessons == [Lesson("look near 7", "person")]
        assert campaign.state.columns.programs[mine["record"] - 1] in campaign.state.quarantined
    assert call("campaign", "replay", "aside").exit_code == 0
    assert not (log(home).parent / "number.inbox").exists()
