"""`evolve task`."""

import json

import evolve.task


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
