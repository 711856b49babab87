"""`evolve run` with real judge processes, on a task that is a folder with four files."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evolve.campaign import Campaign
from evolve.campaign.state import Difference
from evolve.types import Insertion, Level, Placement

pytestmark = pytest.mark.integration

TASK = {
    "task.toml": """schema = 1
deterministic = true
[fitness]
name = "nearness"
digits = 6
[[axes]]
name = "size"
low = 0
high = 10
bins = 5
[[anchors]]
value = -1.0
by = "Somebody"
[[stages]]
name = "evaluate"
seconds = 5
""",
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5.0\n",
    "evaluator.py": """from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    value = candidate.call("value")
    size = min(10.0, abs(value))
    return Evaluation.ok(-abs(value - 7.0), descriptors={"size": size}, artifacts={"value": value})


@evaluate.draw
def draw(artifacts, trial):
    return f"<svg><title>{artifacts['value']}</title></svg>"
""",
}


@pytest.fixture
def folder(home: Path) -> Path:
    """The task folder `number`."""
    folder = home / "elsewhere" / "tasks" / "number"
    folder.mkdir(parents=True)
    for name, text in TASK.items():
        (folder / name).write_text(text)
    return folder


def logs(home: Path) -> list[str]:
    """The campaigns of the workspace."""
    return sorted(path.stem for path in (home / "archive" / "campaigns").glob("*.db"))


def test_a_campaign_runs_goes_on_and_is_looked_at(call, home, folder):
    """Its budget is the total of all runs."""
    result = call("run", "number", "--budget", "20programs", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "campaign number begins: islands, 1 worker, seed 0, budget 20programs\nno model: " in result.stdout
    assert "its budget is spent (20 programs evaluated" in result.stdout
    assert "evolve run --continue number --budget 40programs" in result.stdout

    spent = call("run", "number", "--continue", "number")
    assert spent.exit_code == 1
    assert "the budget of campaign 'number' is spent, 20programs: 20 programs" in spent.stderr

    more = call("run", "number", "--continue", "--budget", "25programs", "--workers", "1")
    assert more.exit_code == 0, more.output
    assert "its budget is spent (25 programs evaluated" in more.stdout
    assert logs(home) == ["number"]

    assert call("campaign", "replay", "number").exit_code == 0


def test_json_on_stdout_is_records_and_the_end(call, home, folder):
    """And nothing else; what people read goes to stderr."""
    result = call("run", "number", "--budget", "5programs", "--workers", "1", "--json", "--name", "mine")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["id"] for line in lines[:-1]] == list(range(1, len(lines)))
    assert Level.of(lines[-1]["best"]["isolation"]) is not None
    assert (lines[0]["kind"], lines[0]["fitness"], lines[0]["outcome"]) == ("seed", -2.0, "ok")
    assert lines[0]["isolation"] == lines[-1]["isolation"]
    assert (lines[-1]["event"], lines[-1]["reason"], lines[-1]["programs"]) == ("ended", "budget", 5)
    assert "campaign mine ended" in result.stderr


def test_going_on_warns_where_the_replay_differs(call, home, folder, monkeypatch):
    """With the record."""
    call("run", "number", "--budget", "3programs", "--workers", "1")
    replayed = Campaign.replay

    def different(campaign: Campaign, *given: object) -> Campaign:
        replayed(campaign, *given)
        campaign.state.difference = Difference(2, Placement(Insertion.NEW), Placement(Insertion.NOT_ADDED))
        return campaign

    monkeypatch.setattr(Campaign, "replay", different)
    result = call("run", "--continue", "--budget", "9programs", "--dry-run")
    assert "evolve: warning: the replayed archive differs at record 2" in result.stderr


def test_equal_seeds_have_equal_digests(call, home, folder):
    """With --deterministic."""
    for name in ("one", "two"):
        words = ("--deterministic", "--budget", "8programs", "--seed", "3", "--name", name)
        assert call("run", "number", *words).exit_code == 0
    one, two = (json.loads(call("campaign", "replay", name, "--json").stdout)["digest"] for name in ("one", "two"))
    assert one == two


def test_a_campaign_with_nothing_to_try_is_no_success(call, home, folder):
    """One line on stderr, and no advice to go on; with --json the end is told as well."""
    (folder / "seed.py").write_text("def value():\n    return float('5')\n")
    words = ("run", "number", "--workers", "1", "--budget", "20programs", "--set", 'operators.names=["tune_literals"]')
    result = call(*words)
    assert result.exit_code == 1
    assert "campaign 'number' found nothing to try: tune_literals proposed nothing" in result.stderr
    assert "--continue" not in result.output
    told = call(*words, "--json")
    assert (told.exit_code, json.loads(told.stdout.splitlines()[-1])["reason"]) == (1, "exhausted")


def test_a_dry_run_makes_nothing(call, home, folder):
    """Also with --json."""
    text = call("run", "number", "--budget", "5programs", "--dry-run").stdout
    assert 'budget = ["5programs"]' in text
    dry = json.loads(call("run", "number", "--seed", "4", "--dry-run", "--json").stdout)
    assert dry["settings"]["seed"] == 4
    assert (dry["stages"], dry["functions"]) == (["evaluate"], ["draw"])
    assert not (home / "archive").exists()


def test_a_dry_run_shows_the_first_prompt_and_calls_no_model(call, home, folder):
    """With what the budget pays for; a mailbox would have got a letter."""
    letters = home / "letters"
    words = ("run", "number", "--model", f"mailbox:{letters}", "--budget", "5calls", "--dry-run")
    text = call(*words).stdout
    assert "mailbox: about 5, and 5 at least" in text
    assert "a first prompt, of operator diff\n\n--- system: system (about " in text
    assert not letters.exists() or list(letters.iterdir()) == []
    assert json.loads(call(*words, "--json").stdout)["foreseen"]["estimate"]["models"][0]["proposals"] == 5


def test_a_dry_run_finds_an_evaluator_that_does_not_load(call, home, folder):
    """It asks a judge, which runs no candidate."""
    (folder / "seed.py").write_text("raise SystemExit\n")
    assert call("run", "number", "--dry-run").exit_code == 0
    (folder / "evaluator.py").write_text("1 / 0\n")
    result = call("run", "number", "--dry-run")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "does not load: ZeroDivisionError" in result.stderr


def test_a_campaign_is_exported_and_run_again(call, home, folder):
    """With equal settings, from another folder."""
    words = (
        "--set",
        "archive.islands=2",
        "--seed",
        "4",
        "--strategy",
        "islands",
        "--set",
        "strategy.settings.floor=0.1",
    )
    assert call("run", "number", "--budget", "5programs", "--workers", "1", *words).exit_code == 0
    file = home / "search.toml"
    file.write_text(call("campaign", "config", "number").stdout)
    dry = json.loads(call("run", "-c", file, "--dry-run", "--json").stdout)
    before = json.loads(call("campaign", "show", "number", "--json").stdout)
    assert dry["settings"] | {"task": "number"} == before["settings"]
    assert (dry["task_version"], dry["folder"]) == (before["task_version"], str(folder))
    again = call("run", "-c", file, "--name", "again", "--seed", "5", "--json")
    end = json.loads(again.stdout.splitlines()[-1])
    assert (again.exit_code, end["programs"], logs(home)) == (0, 5, ["again", "number"])


def test_a_dry_run_of_more_changes_nothing(call, home, folder):
    """The log stays as it is."""
    call("run", "number", "--budget", "3programs", "--workers", "1")
    before = (home / "archive" / "campaigns" / "number.db").read_bytes()
    text = call("run", "--continue", "number", "--budget", "9programs", "--dry-run").stdout
    assert "more of campaign number" in text
    assert (home / "archive" / "campaigns" / "number.db").read_bytes() == before


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("evaluator.py", "1 / 0\n", "ZeroDivisionError"),
        ("evaluator.py", "x = 1\n", "evaluat"),
        ("evaluator.py", None, "evaluator"),
        ("task.toml", "schema = 1\nfoo = 1\n", "unknown key 'foo'"),
        ("seed.py", None, "seed.py"),
    ],
)
def test_a_task_that_cannot_judge_leaves_no_campaign(call, home, folder, name, text, message):
    """One line, exit code 1."""
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    result = call("run", "number", "--budget", "5programs", "--workers", "1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("evolve: error: ")
    assert message in result.stderr
    assert logs(home) == []


def test_a_seed_that_fails_says_where_its_log_is(call, home, folder):
    """It is evidence."""
    (folder / "seed.py").write_text("def value():\n    raise ValueError('not me')\n")
    result = call("run", "number", "--budget", "5programs", "--workers", "1")
    assert result.exit_code == 1
    assert "the seed of task 'number' fails its own evaluator" in result.stderr
    assert "The log of campaign 'number' is kept" in result.stderr
    assert logs(home) == ["number"]


def test_a_campaign_whose_seed_failed_is_replaced_by_the_next_run(call, home, folder):
    """Attempts to mend a seed leave one campaign, and one that has evaluated something stays."""
    good = (folder / "seed.py").read_text()
    words = ("run", "number", "--budget", "5programs", "--workers", "1")
    (folder / "seed.py").write_text("def value():\n    raise ValueError('not me')\n")
    assert "replaces" not in call(*words).stderr
    assert "replaces" not in call(*words, "--dry-run").stderr
    assert logs(home) == ["number"]
    (folder / "seed.py").write_text(good)
    result = call(*words)
    note = "evolve: note: this run replaces campaign number, whose seed failed before anything was spent\n"
    assert (result.exit_code, result.stderr.count(note), logs(home)) == (0, 1, ["number"])
    assert call(*words).exit_code == 0
    assert logs(home) == ["number", "number-2"]


def test_a_task_of_the_folder_that_hides_a_bundled_one_is_told(call, folder):
    """Whoever means the bundled one would take its scores for those of another task."""
    folder.rename(folder.with_name("circle_packing"))
    told = call("run", "circle_packing", "--dry-run").stderr
    assert "evolve: note: the task circle_packing is the one in " in told
    assert "not the bundled one of this name" in told
    assert "note" not in call("run", str(folder.with_name("circle_packing")), "--dry-run").stderr
    assert "note" not in call("run", "online_bin_packing", "--dry-run").stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing"], "no task is called 'nothing'"),
        ([], "there is no TASK"),
        (["number", "--budget", "-3s"], "not above zero"),
        (["number", "--set", "archive.island=3"], "Did you mean 'islands'?"),
        (["number", "--strategy", "hope"], "no strategy is called 'hope'"),
        (["--continue"], "there is no campaign in"),
        (["--continue", "other"], "there is no campaign 'other'"),
    ],
)
def test_a_wrong_command_is_one_line_and_makes_nothing(call, home, folder, words, message):
    """What, got, do this."""
    result = call("run", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("evolve: error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not (home / "archive").exists()


def start(home: Path, *words: str) -> "subprocess.Popen[str]":
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "evolve", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home / "elsewhere",
        env={**os.environ, "EVOLVE_HOME": str(home)},
    )


def test_an_interrupt_drains_and_ends_with_130(home, folder):
    """Everything that had settled is kept, and how to go on is said."""
    with start(home, "run", "number", "--budget", "500s", "--workers", "1", "--json") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert json.loads(out.splitlines()[-1])["reason"] == "interrupted"
    assert "it was interrupted; everything that had settled is kept" in errors
    assert "evolve run --continue number\n" in errors


def test_a_reader_that_goes_away_ends_a_run_quietly(home, folder):
    """As `| head -1` does."""
    with start(home, "run", "number", "--budget", "500s", "--workers", "1", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        process.wait(timeout=30)
    assert process.returncode == 141
    assert (errors.count("\n"), "Traceback" in errors) == (4, False), errors
    assert logs(home) == ["number"]
