"""`evolve program evaluate`: its tables, its words and real workers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.cli.program_evaluate import (
    EvaluationLine,
    EvaluationSummary,
    describe_evaluation,
    format_results,
    read_program,
    summarize,
)
from evolve.evaluation import Report
from evolve.measuring import Measured, MeasurementRequest
from evolve.types import ConfigError, Evaluation, EvaluatorSource, Fitness, Outcome, Program, Task, Trial
from tests.written import number_task

pytestmark = pytest.mark.integration

TASK = number_task()


def row(of: str, trial: int, fitness: float | None, case: str = "") -> EvaluationLine:
    outcome = "ok" if fitness is not None else "crashed"
    return EvaluationLine(
        of, trial, case, outcome, fitness, 0.5, "" if fitness is not None else "it broke", "reduced: x"
    )


def rows(*pairs: tuple[float | None, float | None]) -> list[EvaluationLine]:
    return [
        row(of, trial, value)
        for trial, pair in enumerate(pairs)
        for of, value in zip(("program", "seed"), pair, strict=True)
    ]


def told(found: list[EvaluationLine]) -> str:
    return format_results(TASK, found, summarize(TASK, "0123456789abcdefg", found))


def summary(found: list[EvaluationLine], *cases: EvaluationLine) -> EvaluationSummary:
    return summarize(TASK, "x", [*found, *cases])


def test_the_gain_is_that_of_pairs() -> None:
    """Its error is smaller than those of the means, where the trials differ more than the programs do."""
    found = summary(rows((2.0, 1.0), (12.0, 10.0), (22.0, 19.0)))
    assert (found.count, found.failures, found.mean, found.seed_mean, found.gain) == (3, 0, 12.0, 10.0, 2.0)
    assert found.gain_error is not None
    assert found.error is not None
    assert found.gain_error < 1.0 < found.error


def test_a_trial_that_failed_is_in_no_mean() -> None:
    """It is counted, and told with the first reason."""
    found = rows((2.0, 1.0), (None, 10.0))
    assert summary(found).gain == 1.0
    text = told(found)
    assert "why it failed (trial 1)\n  │ it broke" in text
    assert "evaluated with 2 trials, 1 failed" in text
    assert summary(rows((2.0, 1.0)), row("program", 0, None, "far")).failures == 1


def test_the_page_has_a_row_for_each_trial_and_each_case() -> None:
    found = [row("program", 0, 7.5), row("seed", 0, 5.0)]
    text = told([*found, row("program", 0, 2.0, "far"), row("seed", 0, 3.0, "far")])
    assert text.splitlines() == [
        "trial  outcome  nearness  took    the seed     took    difference",
        "0      ok       7.5       500 ms  ok        5  500 ms  +2.5",
        "far    ok       2         500 ms  ok        3  500 ms  -1",
        "",
        "program     0123456789abcdef, evaluated with 1 trial",
        "nearness    7.5",
        "the seed's  5",
        "gain        +2.5: better than the seed",
        "trust       witnessed",
        "isolation   reduced: x",
    ]


def test_a_gain_within_the_noise_is_none() -> None:
    """And a loss is a loss."""
    assert "gain        +0.5 +- 1.5, which is within the noise" in told(rows((3.0, 1.0), (1.0, 2.0)))
    assert "gain        -2: WORSE than the seed" in told(rows((3.0, 5.0)))
    assert "gain        +0: as good as the seed" in told(rows((3.0, 3.0)))
    assert "gain        unknown: there is nothing to compare" in told(rows((None, 3.0)))


def test_the_seed_itself_is_told_alone() -> None:
    """There is nobody beside it."""
    found = [row("program", 0, 5.0)]
    text = format_results(TASK, found, summarize(TASK, TASK.seed.id, found))
    assert "the seed's" not in text


def test_a_program_that_misses_the_constraints_is_not_told_as_a_success() -> None:
    """However large its gain is."""
    cheat = replace(row("program", 0, 9.0), violation=0.5)
    text = told([cheat, row("seed", 0, 5.0)])
    assert "0      ok, misses constraints  9" in text
    assert "constraints  missed, violation 0.5 at worst: such a program is never the best of a campaign" in text
    assert summary(rows((2.0, 1.0)), replace(cheat, case="far")).violation == 0.5


def test_metrics_and_cases_are_told_to_programs() -> None:
    """Cases as the user writes them, whatever the engine's sign is."""
    evaluation = Evaluation(Outcome.OK, fitness=-3.0, metrics={"bins": 7.0}, cases={"far": -4.0, "near": -2.0})
    task = replace(TASK, fitness=Fitness("excess", "min"))
    measured = Measured(MeasurementRequest(TASK.seed, False, Trial(0)), Report(evaluation))
    line = describe_evaluation(task, measured)
    assert (line.fitness, line.metrics, line.cases) == (3.0, {"bins": 7.0}, {"far": 4.0, "near": 2.0})


def test_a_failure_of_integrity_is_told() -> None:
    """Each kind once, and what a campaign would do."""
    found = [replace(row("program", trial, 7.5), tag="late write") for trial in range(2)]
    assert "integrity: late write; in a campaign such a program is quarantined" in told(found)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("mine")
    (tmp_path / "folder" / "lib").mkdir(parents=True)
    for name in ("main.py", "lib/part.py", "lib/more.py", "notes.txt"):
        (tmp_path / "folder" / name).write_text(name)
    return tmp_path


def task(*files: str, **fields: object) -> Task:
    return Task(
        "made", "", "1", "Be.", Program(dict.fromkeys(files, "seed")), "main", EvaluatorSource("evaluator.py"), **fields
    )


def files(task: Task, *given: str) -> dict[str, str]:
    return dict(read_program(task, given).files)


def test_a_single_file_takes_the_place_of_a_single_file() -> None:
    """Whatever it is called."""
    assert files(task("seed.py"), "mine.py") == {"seed.py": "mine"}


def test_several_files_are_known_by_their_names() -> None:
    """What is not given is the seed's."""
    several = task("main.py", "lib/part.py")
    assert files(several, "folder/main.py") == {"main.py": "main.py", "lib/part.py": "seed"}
    assert files(several, "folder/lib/part.py", "folder/main.py") == {
        "main.py": "main.py",
        "lib/part.py": "lib/part.py",
    }


def test_a_folder_is_a_whole_program() -> None:
    """Of its files those that a program may have; new ones where the task allows them."""
    several = task("main.py", "lib/part.py", "lib/rest.py")
    assert files(several, "folder") == {"main.py": "main.py", "lib/part.py": "lib/part.py", "lib/rest.py": "seed"}
    allowed = task("main.py", new_files=("lib/*.py",))
    assert files(allowed, "folder") == {
        "main.py": "main.py",
        "lib/part.py": "lib/part.py",
        "lib/more.py": "lib/more.py",
    }


def test_of_a_task_in_one_file_the_blocks_are_taken(elsewhere: Path) -> None:
    """So a changed problem.py is evaluated as it stands."""
    block = "# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n"
    (elsewhere / "mine.py").write_text(f'"""Brief."""\n{block}y = 2\n')
    assert files(task("seed.py", one_file="problem.py"), "mine.py") == {"seed.py": block}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("gone.py", "folder/main.py"), "gone.py cannot be read: No such file or directory"),
        (("mine.py",), "it is not clear which of the program's files 'mine.py' is. Did you mean 'main.py'?"),
        (("empty",), "'empty' has none of the program's files. Try: name a folder with lib/part.py, main.py"),
    ],
)
def test_what_is_no_program_is_refused(elsewhere: Path, given: tuple[str, ...], message: str) -> None:
    """What, got, do this."""
    (elsewhere / "empty").mkdir()
    with pytest.raises(ConfigError) as caught:
        read_program(task("main.py", "lib/part.py"), given)
    assert message in str(caught.value)
    assert "Try: " in str(caught.value)


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


def test_a_program_is_evaluated_next_to_the_seed_and_on_held_out_cases(call, mine):
    first = call("program", "evaluate", "better.py", "--task", "mine", "--held-out", "--json")
    assert first.exit_code == 0, first.output
    *rows, total = lines(first)
    assert sorted((row["of"], row["case"]) for row in rows) == [
        (of, case) for of in ("program", "seed") for case in ("", "farthest=50.0", "farthest=70.0")
    ]
    assert (total["event"], total["count"], total["failures"]) == ("summary", 1, 0)
    assert total["gain"] < -3.0
    more = call("program", "evaluate", "better.py", "--task", "mine", "--seeds", "2")
    assert more.exit_code == 0, more.output
    assert "evaluated with 2 trials" in more.stdout
    assert ": better than the seed" in more.stdout


def test_a_program_that_fails_is_told_why_and_exits_with_1(call, mine):
    """From a file, or from the standard input."""
    (mine / "worse.py").write_text("def throw(distance):\n    return None\n")
    failed = call("program", "evaluate", "worse.py", "--task", "mine", "--set", "task.wind=1.0")
    assert failed.exit_code == 1
    assert "why it failed (trial 0)\n  │ throw(10) must return two finite numbers, got None" in failed.stdout


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gone.py", "--task", "mine"), "gone.py cannot be read"),
        (("better.py", "--task", "circle_packing", "--held-out"), "task 'circle_packing' has no held-out cases"),
        (("better.py", "--task", "mine", "--set", "wind=1"), "without a campaign only parameters of the task"),
        (("better.py",), "Missing option '--task'"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, mine, words, message):
    """Before anything is evaluated."""
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
