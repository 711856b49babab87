"""Facts about the export of one program."""

import json

import pytest
from exported_here import Found, changed, task_at

import evolve.task
from evolve.types import REJUDGED, ConfigError, Origin, Outcome, Program, Ruled, TaskChanged, TaskError, canonical
from evolve.types.codec import encode
from evolve_publish.claims import RECORD, STEPS, is_timed, read_claims
from evolve_publish.export import export_program, read_lineage
from evolve_publish.files import task_files


@pytest.fixture
def found(tmp_path):
    return Found(tmp_path)


def test_an_export_holds_all_that_the_score_rests_on(found):
    """Program, task with what is no text, lineage, artifacts, the certificate of a task that certifies, and how to verify it."""
    contents = found.promoted().export().contents
    assert sorted(contents) == [
        "MANIFEST.json",
        "README.md",
        "artifacts/numbers.json",
        "lineage/0001.diff",
        "lineage/steps.json",
        "program/seed.py",
        "record.json",
        "task/number/README.md",
        "task/number/brief.md",
        "task/number/evaluator.py",
        "task/number/seed.py",
        "task/number/table.bin",
        "task/number/task.toml",
        "verify.py",
    ]
    assert contents["task/number/table.bin"] == b"\x00\xff\x01"
    assert contents["program/seed.py"] == b"def value():\n    return 6.5\n"
    assert b"-    return 5\n+    return 6.5\n" in contents["lineage/0001.diff"]


def test_two_exports_of_one_record_are_equal(tmp_path):
    """Also from a log that was opened again, and by a measurement of the program."""
    found = Found(tmp_path, promotion="certificate").certified()
    assert found.export(2).contents == found.export(2).contents == found.export(3).contents


def test_a_program_that_a_newer_task_has_judged_again_is_named_by_that_judging(tmp_path):
    """Its lineage is the old one."""
    found = Found(tmp_path)
    definition = found.campaign.log.settled(2)
    assert definition.record.id == 2
    newer = evolve.task.load(tmp_path / "mine" / "number", {"offset": 1.0})
    with found.campaign.log.transaction():
        text = found.campaign.log.put_text(canonical(encode(newer)))
    found.ruled(TaskChanged(newer.version, text))
    with pytest.raises(TaskError, match="evaluated by an earlier version of task 'number'"):
        export_program(found.campaign, 2, newer)
    origin = Origin("measurement", 3, about=2, why=REJUDGED, parents=(1,))
    found._settle(origin, found.campaign.log.program(definition.record.program), found._ok(6.25))
    made = export_program(found.campaign, 3, newer)
    assert (made.claims.name, made.claims.value.fitness, made.claims.steps) == ("number/3", 6.25, 2)
    assert [one.part for one in made.claims.judgings] == ["search"]


def test_the_claims_are_read_as_they_were_written(found):
    made = found.promoted().export()
    claims = read_claims(made.contents)
    assert claims == made.claims
    assert (claims.name, claims.task.version, claims.value.fitness) == ("number/2", found.task.version, 6.5)
    assert [(one.record, one.part, one.of_seed) for one in claims.judgings] == [
        (2, "search", False),
        (4, "case", False),
        (3, "case", True),
    ]
    assert claims.promotion.by == "held_out"
    assert [(one.hardware, one.isolation) for one in claims.judgings[:1]] == [("one core", "strict: all of it")]


def test_no_path_of_the_machine_is_in_it(found, tmp_path):
    contents = found.export().contents
    assert not [path for path, data in contents.items() if str(tmp_path).encode() in data]


def test_models_of_the_lineage_are_named(tmp_path):
    found = Found(tmp_path)
    found.proposal(7.0, parents=(2,), operator="diff", model="small")
    claims = found.export(3).claims
    assert [used.name for used in claims.models] == ["small"]
    assert json.loads(found.export(3).contents[STEPS])[-1]["model"] == "small"


def test_hostile_file_names_of_a_program_stay_inside(found, tmp_path):
    """They are stored by their hashes, and are the program's own again when it is read."""
    program = Program({"seed.py": "return 6\n", "../../../out.py": "x", "\x1b[2J.py": "y"})
    found._settle(Origin("proposal", 3, parents=(1,)), program, found._ok(6.0))
    made = found.export(3)
    assert {*made.claims.files} == {"seed.py", "../../../out.py", "\x1b[2J.py"}
    assert all(
        path.startswith("program/") and ".." not in path and "\x1b" not in path for path in made.claims.files.values()
    )
    again = Program({name: made.contents[path].decode() for name, path in read_claims(made.contents).files.items()})
    assert again == program


def test_a_quarantined_program_is_exported_with_its_ruling(found):
    program = found.campaign.log.settled(2).record.program
    found.ruled(Ruled("quarantine", program, "integrity", "late write"))
    made = found.export()
    assert made.claims.quarantined == "integrity: late write"
    assert b"late write" in made.contents["README.md"]


def test_a_task_that_has_changed_is_not_taken_for_the_one_that_judged(found, tmp_path):
    (tmp_path / "mine" / "number" / "evaluator.py").write_text("x = 1\n")
    with pytest.raises(TaskError, match="is not what has evaluated number/2"):
        export_program(found.campaign, 2, task_at_again(tmp_path))


def task_at_again(home):
    return evolve.task.load(home / "mine" / "number")


def test_a_screened_proposal_has_nothing_to_export(found):
    found.failure(Outcome.SCREENED, "duplicate")
    with pytest.raises(ConfigError, match="number/3 has no program"):
        found.export(3)


def test_a_link_out_of_the_task_is_not_followed(found, tmp_path):
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "mine" / "number" / "data.txt").symlink_to(tmp_path / "secret")
    task = task_at_again(tmp_path)
    with pytest.raises(ConfigError, match="leads out of the task's folder"):
        task_files(task)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace('"schema": 1', '"schema": 2'), "has schema '2'"),
        (lambda text: text.replace('"kind"', '"kinds"'), "cannot be read"),
        (lambda text: text[:-5], "is no JSON"),
        (lambda text: text.replace('"steps": 2', '"steps": "two"'), "cannot be read"),
    ],
)
def test_claims_that_are_none_are_an_error(found, change, why):
    contents = changed(found.export().contents, RECORD, change)
    with pytest.raises(ConfigError, match=why):
        read_claims(contents)


def test_each_step_has_its_operator_its_change_and_a_diff(tmp_path):
    found = Found(tmp_path)
    found.proposal(7.0, parents=(2, 1), operator="mutate_ast")
    steps, files = read_lineage(found.campaign, 3)
    assert [(step.record, step.kind, step.operator, step.fitness, step.change, step.diff) for step in steps] == [
        (1, "seed", "", 5.0, None, ""),
        (2, "proposal", "tune_literals", 6.5, 1.5, "lineage/0001.diff"),
        (3, "proposal", "mutate_ast", 7.0, 0.5, "lineage/0002.diff"),
    ]
    assert files["lineage/0002.diff"].decode().splitlines()[:2] == ["--- a/seed.py", "+++ b/seed.py"]
    assert json.loads(files[STEPS])[2]["parents"] == [2, 1]


def test_a_measurement_has_the_lineage_of_what_it_measures(tmp_path):
    found = Found(tmp_path)
    found.again(2, 6.5)
    assert [step.record for step in read_lineage(found.campaign, 3)[0]] == [1, 2]


def test_a_certified_value_counts_before_what_was_measured(tmp_path):
    found = Found(tmp_path, promotion="certificate")
    found.certificate(2, 6.4999)
    value = found.export().claims.value
    assert (value.fitness, value.certified, value.standard_error) == (6.4999, True, None)


def test_a_deterministic_value_has_no_error(tmp_path):
    value = Found(tmp_path).export().claims.value
    assert (value.fitness, value.count, value.low, value.confirmed) == (6.5, 1, None, True)


def test_a_noisy_value_has_limits_that_hold_it(tmp_path):
    """And rests on what was measured after it won, once there is any."""
    found = Found(tmp_path, deterministic=False)
    assert not found.export().claims.value.confirmed
    for fitness in (6.4, 6.2, 6.3):
        found.again(2, fitness)
    value = found.export().claims.value
    assert value.low < value.fitness < value.high
    assert value.standard_error > 0.0


def test_a_program_that_never_passed_has_none(tmp_path):
    found = Found(tmp_path)
    found.failure(Outcome.CRASHED, "it divided by zero")
    assert found.export(3).claims.value is None


def test_seconds_decide_a_ratio_of_times_alone(tmp_path):
    assert is_timed(task_at(tmp_path / "a", deterministic=False, timed=True))
    assert not is_timed(task_at(tmp_path / "b"))
