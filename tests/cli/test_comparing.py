"""`evolve compare` with real judges, on a task that is a folder with four files."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.test_end_to_end import TASK
from tests.written import Written, short_campaign

ARMS = ("--strategy", "islands", "--strategy", "random")
SMALL = ("--budget", "20programs", "--workers", "1")


def events(log: Path) -> int:
    """How many events a log that somebody writes has by now."""
    if not log.exists():
        return 0
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as reader:
        try:
            return reader.execute("SELECT count(*) FROM events").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.fixture
def number(home: Path) -> Path:
    """The task folder `number`."""
    folder = home / "elsewhere" / "tasks" / "number"
    folder.mkdir(parents=True)
    for name, text in TASK.items():
        (folder / name).write_text(text)
    return folder


def logs(home: Path) -> list[str]:
    """The campaigns of the workspace."""
    return sorted(path.stem for path in (home / "archive" / "campaigns").glob("*.db"))


@pytest.mark.integration
def test_arms_are_run_used_again_and_read(call, home, number):
    """A second command runs nothing, and neither does one with other settings, which is refused."""
    words = ("compare", "number", *ARMS, "--seeds", "1", "--budget", "3programs", "--workers", "1", "--name", "mine")
    first = call(*words, "-o", "out")
    assert first.exit_code == 0, first.output
    assert logs(home) == ["mine-islands-s0", "mine-random-s0"]
    assert "2 arms on number, 1 campaign each, all at 3 programs: nearness (max) of the best programs" in first.stdout
    assert "<svg" in (home / "elsewhere/out/comparison.svg").read_text()
    again = call(*words, "--json")
    assert again.stderr.count("(there already)") == 2
    read = call("compare", "--read", "islands=*-islands-*", "--read", "random=*-random-*", "--json")
    assert json.loads(read.stdout) == json.loads(again.stdout)
    other = call(*words, "--set", "archive.islands=2")
    assert (other.exit_code, "made otherwise: it differs in archive.islands." in other.stderr) == (1, True)
    assert logs(home) == ["mine-islands-s0", "mine-random-s0"]


def test_a_comparison_that_cannot_be_written_is_an_error(call, home):
    """What is in the folder already stays as it was, whole."""
    for place, name in enumerate(("a", "b")):
        written = Written(home, name=name, budget=["2programs"])
        written.seed(5.0)
        for more in (1.0, 2.0):
            written.proposal(5.0 + more + place)
        written.campaign.close()
    said = call("compare", "a", "b").stdout
    assert said.startswith("2 arms on number, 1 campaign each, all at 2 programs"), (
        "campaigns that exist, by their names"
    )
    blocked = home / "elsewhere" / "out" / "comparison.svg"
    blocked.mkdir(parents=True)
    found = call("compare", "a", "--read", "b=b", "-o", "out")
    assert "none is run, got TASK" in found.stderr
    assert "a campaign is compared with itself, got a a" in call("compare", "a", "a").stderr
    assert "no campaign" in call("compare", "a", "*").stderr
    found = call("compare", "--read", "a=a", "--read", "b=b", "-o", "out")
    assert (found.exit_code, found.stderr) == (
        1,
        "evolve: error: the comparison cannot be written to out: Is a directory. "
        "Try: name another folder with -o; its campaigns are kept\n",
    )
    assert sorted(path.name for path in blocked.parent.iterdir()) == ["comparison.md", "comparison.svg"]


@pytest.mark.slow
def test_arms_and_seeds_are_run_read_and_written(call, home, number):
    """Two arms with two seeds at 20 programs; what is there is used again, and one more seed is run alone."""
    first = call("compare", "number", *ARMS, "--seeds", "2", *SMALL, "-o", "out")
    assert first.exit_code == 0, first.output
    names = [f"number-20programs-{arm}-s{seed}" for seed in (0, 1) for arm in ("islands", "random")]
    assert logs(home) == sorted(names)
    told = [line.split()[-1] for line in first.stderr.splitlines() if "/4  " in line]
    assert told == names
    assert "2 arms on number, 2 campaigns each, all at 20 programs: nearness (max) of the best programs" in first.stdout
    assert "Nothing can be concluded of random and islands from 2 pairs of one seed" in first.stdout
    assert "<svg" in (home / "elsewhere/out/comparison.svg").read_text()

    again = call("compare", "number", *ARMS, "--seeds", "3", *SMALL, "--json")
    assert again.exit_code == 0, again.output
    assert again.stderr.count("(there already)") == 4
    assert len(logs(home)) == 6
    found = json.loads(again.stdout)
    assert found["event"] == "compared"
    # All arms have evaluated exactly as many; what is measured beside that is counted for none.
    assert [line["programs"] for line in found["lines"]] == [20.0, 20.0]
    assert (found["per"], found["end"], found["notes"]) == ("programs", 20.0, [])
    written = json.loads((home / "elsewhere/out/comparison.json").read_text())
    assert written["lines"][0]["finals"] == found["lines"][0]["finals"][:2]

    read = call("compare", "--read", "islands=number-*-islands-s*", "--read", "random=number-*-random-s*", "--json")
    assert {**json.loads(read.stdout), "folder": ""} == {**found, "folder": ""}


@pytest.mark.slow
def test_a_campaign_of_the_name_that_was_made_otherwise_is_not_gone_on_with(call, home, number):
    """Nothing is run."""
    assert call("compare", "number", *ARMS, "--seeds", "1", *SMALL, "--name", "mine").exit_code == 0
    other = call("compare", "number", *ARMS, "--seeds", "1", *SMALL, "--name", "mine", "--set", "archive.islands=2")
    assert other.exit_code == 1
    assert (
        "there is a campaign 'mine-islands-s0' that was made otherwise: it differs in archive.islands." in other.stderr
    )
    (number / "evaluator.py").write_text(TASK["evaluator.py"].replace("7.0", "8.0"))
    changed = call("compare", "number", *ARMS, "--seeds", "1", *SMALL, "--name", "mine")
    assert "it differs in the task's version" in changed.stderr
    assert logs(home) == ["mine-islands-s0", "mine-random-s0"]


@pytest.mark.slow
def test_an_interrupt_keeps_all_and_the_same_command_goes_on(home, number):
    """Ctrl-C in the second campaign: the first is used again, the second is continued."""
    command = [sys.executable, "-m", "evolve", "compare", "number", *ARMS, "--seeds", "1", "--budget", "150programs"]
    with subprocess.Popen(
        [*command, "--workers", "1"], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        log = home / "archive/campaigns/number-150programs-random-s0.db"
        while process.poll() is None and events(log) < 30:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert "number-150programs-islands-s0" in first
    assert process.returncode == 130, rest
    again = subprocess.run([*command, "--workers", "1"], capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "(there already)  number-150programs-islands-s0" in again.stderr
    assert "(went on after " in again.stderr
    assert "  number-150programs-random-s0" in again.stderr
    assert "all at" in again.stdout


@pytest.mark.slow
def test_a_seed_program_that_fails_is_a_failed_campaign(call, home, number):
    """It is told, and the comparison goes on."""
    (number / "seed.py").write_text("def value():\n    return 1 / 0\n")
    result = call("compare", "number", *ARMS, "--seeds", "1", *SMALL)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("[its seed program failed: crashed]") == 2
    assert "Note: islands: failed, and counted as worse than all others: number-20programs-islands-s0." in result.stdout
    assert "1 (1 failed)" in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--strategy", "random"], "there is no TASK"),
        (["number", "--strategy", "random", "--budget", "20programs"], "at least two arms, got 1"),
        (["number", *ARMS], "a budget that all arms spend alike, got none"),
        (["number", *ARMS, "--budget", "fitness=3"], "a budget that all arms spend alike, got 'fitness=3'"),
        (["number", *ARMS, *SMALL, "--name", "../up"], "a campaign's name is letters"),
        (["number", "--strategy", "islands", "--strategy", "nothing", *SMALL], "nothing"),
        (["number", *ARMS, *SMALL, "-o", "tasks/number/seed.py"], "-o names a folder, got the file"),
        (["number", "--read", "a=*"], "campaigns that exist are compared as they are, and none is run, got TASK"),
        (["number", *ARMS, *SMALL, "--per", "tokens"], "--per tokens is for campaigns with a model, got none"),
        (["--read", "a=*"], "no campaign in"),
    ],
)
def test_what_is_wrong_with_the_words_is_found_before_anything_is_made(call, home, number, words, told):
    """One line, and no campaign."""
    result = call("compare", *words)
    assert result.exit_code == 1, result.output
    assert told in result.stderr
    assert result.stdout == ""
    assert logs(home) == []


def test_one_arm_to_read_is_no_comparison(call, home):
    short_campaign(home, "one").close()
    short_campaign(home, "two").close()
    assert "at least two arms, got 1" in call("compare", "--read", "a=*").stderr


def test_a_baseline_is_named(call, home):
    """Of campaigns that were written by hand; a hostile name of an arm moves no cursor."""
    for name, values in (("x-s0", (6.0, 7.0)), ("y-s0", (5.5, 8.0))):
        written = Written(home, name=name, budget=["2programs"])
        written.seed(5.0)
        for value in values:
            written.proposal(value)
        written.campaign.close()
    result = call("compare", "--read", "x\x1b[2J=x-*", "--read", "y=y-*", "--baseline", "y")
    assert result.exit_code == 0, result.output
    assert "against y" in result.stdout
    assert "\x1b" not in result.stdout
    wrong = call("compare", "--read", "x=x-*", "--read", "y=y-*", "--baseline", "z")
    assert "there is no arm 'z'" in wrong.stderr
