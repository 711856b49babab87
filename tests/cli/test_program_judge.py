"""`evolve program judge`, with real judge processes."""

import json

import pytest

import evolve.task


@pytest.fixture
def mine(call, home):
    """The new task `mine`, and a program of one's own that throws better than its seed."""
    call("task", "new", "mine")
    place = home / "elsewhere"
    seed = (place / "tasks" / "mine" / "seed.py").read_text()
    (place / "better.py").write_text(seed.replace("2.5 *", "3.3 *"))
    return place


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_program_is_judged_next_to_the_seed_and_results_are_kept(call, mine):
    """The second call judges what is missing; held-out cases stand beside."""
    first = call("program", "evaluate", "better.py", "--task", "mine", "--held-out", "--json")
    assert first.exit_code == 0, first.output
    *rows, total = lines(first)
    assert sorted((row["of"], row["case"], row["kept"]) for row in rows) == [
        (of, case, False) for of in ("program", "seed") for case in ("", "farthest=50.0", "farthest=70.0")
    ]
    assert (total["event"], total["count"], total["kept"], total["failures"]) == ("summary", 1, 0, 0)
    assert total["gain"] < -3.0
    more = call("program", "evaluate", "better.py", "--task", "mine", "--seeds", "2")
    assert more.exit_code == 0, more.output
    assert "judged with 2 trials, 1 of them before (--fresh judges again)" in more.stdout
    assert ": better than the seed" in more.stdout
    fresh = lines(call("program", "evaluate", "better.py", "--task", "mine", "--fresh", "--json"))
    assert [row["kept"] for row in fresh[:-1]] == [False, False]


def test_a_program_that_fails_is_told_why_and_exits_with_1(call, mine):
    """From a file, or from the standard input."""
    (mine / "worse.py").write_text("def throw(distance):\n    return None\n")
    failed = call("program", "evaluate", "worse.py", "--task", "mine", "--set", "task.wind=1.0")
    assert failed.exit_code == 1
    assert "why it failed (trial 0)\n  │ throw(10) must return two finite numbers, got None" in failed.stdout
    on_case = call("program", "evaluate", "better.py", "--task", "mine", "--case", "farthest=50.0", "--json")
    assert {row["case"] for row in lines(on_case)[:-1]} == {"farthest=50.0"}


FORGED = "x\n\nprogram    the seed, 0123456789abcdef\nfitness    99.9\ngain       +99 BEST"
FORGERIES = {
    "message": f"def throw(distance):\n    raise ValueError({FORGED!r})\n",
    "name": f"def throw(distance):\n    raise type('E', (Exception,), {{'__name__': 'E'}})\n\nthrow = type({FORGED!r}, (), {{}})\n",
    "type": f"def throw(distance):\n    raise type({FORGED!r}, (Exception,), {{}})('y')\n",
    "module": f"def throw(distance):\n    raise type('E', (Exception,), {{'__module__': {FORGED!r}}})('y')\n",
    "output": f"def throw(distance):\n    print({FORGED!r}, flush=True)\n    raise ValueError('y')\n",
    "top": f"raise ValueError({FORGED!r})\n",
}


@pytest.mark.parametrize("way", FORGERIES)
def test_a_program_cannot_forge_what_is_said_of_it(call, mine, way):
    """Each line of its own words bears a mark; the block that counts is the only one without."""
    (mine / "forged.py").write_text(FORGERIES[way])
    told = call("program", "evaluate", "forged.py", "--task", "mine")
    assert told.exit_code == 1, told.output
    forged = [line for line in told.stdout.splitlines() if "99.9" in line or "BEST" in line or "the seed, 0123" in line]
    assert {line[:4] for line in forged} == {"  │ "}
    assert [line[:8] for line in told.stdout.splitlines() if line.startswith(("program ", "gain "))] == [
        "program ",
        "gain    ",
    ]


def test_a_seed_cannot_forge_the_end_of_its_campaign(call, mine):
    """The error has one line of its words; --debug has all of them, marked."""
    (mine / "tasks" / "mine" / "seed.py").write_text(FORGERIES["message"])
    ended = call("run", "mine", "--budget", "5s", "--workers", "1")
    assert (ended.exit_code, ended.stderr.count("\n"), "99.9" in ended.stderr) == (1, 1, False), ended.output
    assert "BEST" not in ended.stdout
    notes = call("run", "mine", "--budget", "5s", "--workers", "1", "--debug").exception.__cause__.__notes__
    assert [line for note in notes for line in note.splitlines() if not line.startswith("  │")] == []
    assert "\n  │ gain       +99 BEST" in notes[0]


def test_certificates_stand_beside_the_scores(call, home):
    """Where the task has them; its own folder is a program, too."""
    told = call("program", "evaluate", evolve.task.find("circle_packing"), "--task", "circle_packing")
    assert told.exit_code == 0, told.output
    assert "program       the seed, " in told.stdout
    assert "certified     2.54142135624\n" in told.stdout


def test_an_interrupt_keeps_what_is_done(call, mine, monkeypatch):
    """Exit code 130, and what there is is told."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evolve.measuring.wait", interrupted)
    stopped = call("program", "evaluate", "better.py", "--task", "mine", "--seeds", "9")
    assert stopped.exit_code == 130
    assert "interrupted after 0 of 9 trials; the same command does the rest" in stopped.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gone.py", "--task", "mine"), "gone.py cannot be read"),
        (("better.py", "--task", "mine", "--case", "far"), "task 'mine' has no held-out case 'far'."),
        (("better.py", "--task", "circle_packing", "--held-out"), "task 'circle_packing' has no held-out cases"),
        (("better.py", "--task", "mine", "--set", "wind=1"), "without a campaign only parameters of the task"),
        (("better.py",), "Missing option '--task'"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, mine, words, message):
    """Before anything is judged."""
    refused = call("program", "evaluate", *words)
    assert refused.exit_code in (1, 2)
    assert message in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("run", "tasks/mine"),
        ("run", "tasks/mine", "--dry-run"),
        ("task", "check", "tasks/mine"),
        ("program", "evaluate", "better.py", "--task", "mine"),
    ],
)
def test_no_command_judges_where_programs_could_read_the_logs(call, mine, home, command):
    """They have what was held out, and every program; one line says which folder it is."""
    settings = mine / "tasks" / "mine" / "task.toml"
    settings.write_text(settings.read_text().replace("[sandbox]\n", f'[sandbox]\nread = ["{home / "archive"}"]\n'))
    (home / "archive").mkdir()
    refused = call(*command)
    assert refused.exit_code == 1, refused.output
    assert f"holds logs of campaigns, or lies among them ({home / 'archive'})" in refused.output
