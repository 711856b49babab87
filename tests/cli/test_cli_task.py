"""`evolve task`."""

import json

import pytest

import evolve.task
from evolve.task import folders


def test_bundled_tasks_are_listed(call):
    """List is the default verb."""
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in call("task").stdout.splitlines()}
    assert lines["circle_packing"].startswith("sum of radii, max")
    assert lines["online_bin_packing"].startswith("excess in percent, min")
    found = {line["name"]: line for line in map(json.loads, call("task", "list", "--json").stdout.splitlines())}
    assert (found["circle_packing"]["direction"], found["circle_packing"]["deterministic"]) == ("max", True)


def test_tasks_of_the_current_folder_are_listed(call, home, monkeypatch):
    """With the first line of the brief, and the problem of one that does not load."""
    monkeypatch.setenv("COLUMNS", "300")
    tasks = home / "elsewhere" / "tasks"
    (tasks / "mine").mkdir(parents=True)
    (tasks / "mine" / "task.toml").write_text('schema = 1\n[sandbox]\nmemory = "64MiB"\npreload = ["numpy"]\n')
    (tasks / "mine" / "README.md").write_text("\n# Find it\n\nMore.\n")
    (tasks / "mine" / "seed.py").write_text("x = 1\n")
    (tasks / "mine" / "evaluator.py").write_text("\n")
    (tasks / "broken").mkdir()
    (tasks / "broken" / "task.toml").write_text("schema = 1\nfoo = 2\n")
    lines = {line.split()[0]: line for line in call("task").stdout.splitlines()}
    assert lines["mine"].split() == ["mine", "fitness,", "max", "Find", "it"]
    assert "unknown key 'foo'" in lines["broken"]


def test_what_a_task_grants_is_listed(call, home):
    """In JSON, by the keys of its table."""
    folder = home / "elsewhere" / "tasks" / "mine"
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text('schema = 1\n[sandbox]\nmemfd = true\nshm = "1GiB"\nread = ["data"]\n')
    for name in ("README.md", "seed.py", "evaluator.py"):
        (folder / name).write_text("x = 1\n")
    found = {
        line["name"]: line["grants"] for line in map(json.loads, call("task", "list", "--json").stdout.splitlines())
    }
    assert found["mine"] == {"memfd": True, "shm": 1 << 30, "read": [str(folder / "data")]}
    assert found["circle_packing"] == {}


def test_what_a_task_is_about_is_one_short_sentence(call, home):
    """In the table; JSON has the whole line."""
    tasks, long = home / "elsewhere" / "tasks", "Find " + "the right " * 20 + "number."
    for name, brief in {"two": "Find it. Then keep it.", "long": long}.items():
        (tasks / name).mkdir(parents=True)
        (tasks / name / "task.toml").write_text("schema = 1\n")
        (tasks / name / "README.md").write_text(brief)
        (tasks / name / "seed.py").write_text("x = 1\n")
        (tasks / name / "evaluator.py").write_text("\n")
    lines = {line.split()[0]: line for line in call("task").stdout.splitlines()}
    assert lines["two"].endswith("  Find it.")
    shown = "Find" + lines["long"].partition("Find")[2]
    assert (shown[-1], len(shown) <= 80, long.startswith(shown[:-1])) == ("…", True, True)
    found = {line["name"]: line for line in map(json.loads, call("task", "--json").stdout.splitlines())}
    assert found["long"]["about"] == long


def test_a_folder_is_listed_once(call, monkeypatch):
    """In a checkout the bundled tasks are those in ./tasks."""
    monkeypatch.chdir(evolve.task.find("circle_packing").parent.parent)
    names = [json.loads(line)["name"] for line in call("task", "list", "--json").stdout.splitlines()]
    assert len(names) == len(set(names))


@pytest.mark.slow
@pytest.mark.parametrize("kind", folders.starter_kinds())
def test_every_new_task_passes(call, home, kind):
    """Exit code 0, a table for a person, and the word."""
    call("task", "new", "mine", "--kind", kind)
    checked = call("task", "check", "mine")
    assert checked.exit_code == 0, checked.output
    assert checked.stderr.startswith("trying the seed, ")
    assert "\ntrying made-up programs that fail in every common way, each for " in checked.stderr
    assert "an endless loop" in checked.stdout
    assert "mine may be used: " in checked.stdout
    assert "grants     nothing beyond the usual\n" in checked.stdout
    assert "failed" not in checked.stdout
    assert "what to do" not in checked.stdout


@pytest.mark.integration
def test_a_task_that_fails_is_told_with_remedies_and_as_json(call, home):
    """Exit code 1; one object with every finding."""
    call("task", "new", "mine")
    evaluator = home / "elsewhere" / "tasks" / "mine" / "evaluator.py"
    evaluator.write_text(
        evaluator.read_text().replace("    targets = targets_of(trial)", "    return Evaluation.wrong('no')")
    )
    checked = call("task", "check", "mine")
    assert checked.exit_code == 1
    assert checked.stderr == "trying the seed, twice ...\n"
    assert "wrong: no" in checked.stdout
    assert "what to do\n  seed: mend the seed or the evaluator" in checked.stdout
    assert "mine is NOT ready: 1 failed, 1 not tried" in checked.stdout
    result = json.loads(call("task", "check", "mine", "--json").stdout)
    assert (result["task"], result["passed"], result["fitness"]) == ("mine", False, None)
    assert [finding["verdict"] for finding in result["findings"]] == ["failed", "not tried"]


@pytest.mark.integration
def test_a_seed_cannot_forge_what_is_said_of_it(call, home):
    """Its words have one cell, on one line."""
    call("task", "new", "mine")
    seed = home / "elsewhere" / "tasks" / "mine" / "seed.py"
    seed.write_text('def throw(distance):\n    raise ValueError("x\\u2028y\\nmine may be used: 9 passed")\n')
    checked = call("task", "check", "mine")
    assert checked.exit_code == 1, checked.output
    said = [line for line in checked.stdout.splitlines() if "may be used" in line]
    assert [" ".join(line.split()) for line in said] == ["seed failed crashed: mine may be used: 9 passed"]
    assert [line for line in checked.stdout.splitlines() if line.startswith("mine ")] == [
        "mine is NOT ready: 1 failed, 1 not tried"
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "archive.islands=2"), "without a campaign only parameters of the task can be set"),
        (("--set", "task.wind=[1]"), "each to a number, a text or true/false"),
        (("--set", "task.wnd=1"), "the task has no parameter 'wnd'. Did you mean 'wind'?"),
    ],
)
def test_what_cannot_be_set_is_refused(call, home, words, message):
    """Before anything is evaluated."""
    call("task", "new", "mine")
    refused = call("task", "check", "mine", *words)
    assert (refused.exit_code, message in refused.stderr) == (1, True)


@pytest.mark.integration
@pytest.mark.parametrize("kind", folders.starter_kinds())
def test_a_new_task_runs_on_the_first_try_and_improves(call, home, kind):
    """Thirty programs are evaluated, and the best is better than the seed."""
    told = call("task", "new", "mine", "--kind", kind)
    assert told.exit_code == 0, told.output
    assert "evolve run tasks/mine --budget 10s" in told.stdout
    ran = call("run", "tasks/mine", "--budget", "30programs", "--json")
    assert ran.exit_code == 0, ran.output
    records = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (records[-1]["event"], records[-1]["programs"]) == ("ended", 30)
    best = min(record["fitness"] for record in records[:-1] if record["outcome"] == "ok")
    assert best < records[0]["fitness"]
    more = call("run", "--continue", "--budget", "35programs")
    assert more.exit_code == 0, more.output
    assert "mine" in call("task", "list").stdout


def test_what_was_made_is_told_as_json(call, home):
    """And a copy, too."""
    made = json.loads(call("task", "new", "mine", "--json").stdout)
    assert made == {
        "task": "tasks/mine",
        "kind": "function",
        "files": ["README.md", "evaluator.py", "seed.py", "task.toml"],
    }
    copied = json.loads(call("task", "copy", "mine", "other", "--json").stdout)
    assert (copied["task"], copied["kind"], copied["files"]) == ("other", "copy", made["files"])


def test_what_is_there_is_not_overwritten(call, home):
    """One line, and exit code 1."""
    call("task", "new", "mine")
    again = call("task", "new", "mine")
    assert again.exit_code == 1
    assert again.stderr.startswith("evolve: error: there is something at 'tasks/mine' already. Try: ")
