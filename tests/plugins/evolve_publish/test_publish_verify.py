"""Facts about verifying an export: what agrees, what differs, and what cannot be told."""

import json

import pytest
from exported_here import EVALUATOR, Found, ReadingJudges, changed, verdicts, verified

import evolve.task
from evolve.task.folders import place_of_bundled
from evolve.types import ConfigError, Ruled
from evolve_publish.claims import RECORD, STEPS, TaskClaim
from evolve_publish.files import MANIFEST, add_manifest
from evolve_publish.reevaluation import AGREES, CANNOT_BE_TOLD, DIFFERS
from evolve_publish.verify import is_known_task


@pytest.fixture
def deterministic(tmp_path):
    return Found(tmp_path).promoted().export().contents


@pytest.fixture
def certified(tmp_path):
    return Found(tmp_path, promotion="certificate").certified().export().contents


def reason(found):
    """The first claim that differs, and why."""
    return next(f"{check.what}: {check.why}" for check in found.checks if check.verdict == DIFFERS)


def test_a_deterministic_program_is_found_exactly_again(deterministic):
    """With its held-out case, beside the seed."""
    found = verified(deterministic)
    assert (found.verdict, found.isolation) == (AGREES, "strict: fake")
    assert verdicts(found)["held out: further on"] == verdicts(found)["score"] == AGREES


def test_what_did_not_hold_on_held_out_cases_is_compared_too(tmp_path):
    """Its score there is as claimed; the seed's is not asked for, since nothing is promised."""
    found = Found(tmp_path)
    found.case(1, 9.0)
    found.case(2, 8.5)
    judges = ReadingJudges()
    assert verdicts(verified(found.export().contents, judges))["held out: further on"] == AGREES
    assert [job.trial.split for job in judges.asked].count("held_out") == 1


def test_a_held_out_score_that_was_made_up_is_found(tmp_path):
    """Though the program is not promoted."""
    found = Found(tmp_path)
    found.case(1, 9.0)
    found.case(2, 8.75)
    assert reason(verified(found.export().contents)) == "held out: further on: the value is another one"


def test_a_certificate_is_made_again_to_the_last_digit(certified):
    judges = ReadingJudges()
    found = verified(certified, judges)
    assert (found.verdict, verdicts(found)["certificate"]) == (AGREES, AGREES)
    assert [job.kind for job in judges.asked] == ["certify", "evaluate", "evaluate"]


def test_quickly_no_program_runs(certified):
    judges = ReadingJudges()
    found = verified(certified, judges, quick=True)
    assert (found.verdict, found.isolation, [job.kind for job in judges.asked]) == (AGREES, "", ["certify"])


def test_a_noisy_program_agrees_within_chance(tmp_path):
    found = Found(tmp_path, deterministic=False)
    found.again(2, 6.4)
    contents = found.again(2, 6.6) and found.promoted().export().contents
    judges = ReadingJudges(noise=(0.1, -0.1, 0.05))
    assert verified(contents, judges).verdict == AGREES
    seeds = [job.trial.seed for job in judges.asked if job.trial.split == "confirm"]
    assert len(set(seeds)) == 5
    worse = verified(contents, ReadingJudges(noise=(-1.1, -1.0)))
    assert reason(worse) == "score: it is worse by more than chance explains (99%: 0.35)"
    assert verdicts(verified(contents, ReadingJudges(noise=(1.1, 1.0))))["score"] == AGREES
    elsewhere = verified(contents, ReadingJudges(noise=(-1.1, -1.0), hardware="other"))
    assert verdicts(elsewhere)["score"] == CANNOT_BE_TOLD


TAMPERED = [
    ("program/seed.py", lambda text: text.replace("6.5", "6.6"), "program: the files in program/ are another program"),
    (
        "task/number/evaluator.py",
        lambda text: f"{text}#",
        "task: the files in task/, or its parameters, are another version",
    ),
    (
        "task/number/task.toml",
        lambda text: text.replace("= true", "= false"),
        "task: the files in task/, or its parameters, are another version",
    ),
    (
        RECORD,
        lambda text: text.replace('"fitness": 6.5', '"fitness": 6.75'),
        "lineage: the lineage ends with another score than the record has",
    ),
    (
        RECORD,
        lambda text: text.replace('"value": {\n  "fitness": 6.5', '"value": {\n  "fitness": 7.5'),
        "value: it is not what the evaluation says",
    ),
    (
        RECORD,
        lambda text: text.replace('"fitness": 8.5', '"fitness": 8.75'),
        "held out: further on: the value is another one",
    ),
    (
        RECORD,
        lambda text: text.replace('"by": "held_out"', '"by": "certificate"'),
        "promotion: the task promotes by held-out, and there is no such evidence",
    ),
    (
        RECORD,
        lambda text: text.replace('"deterministic": true', '"deterministic": false'),
        "task: record.json says something else of the task than the task's own file",
    ),
    (
        RECORD,
        lambda text: text.replace('"offset": 0.0', '"offset": 1.0'),
        "task: the files in task/, or its parameters, are another version",
    ),
    (
        STEPS,
        lambda text: text.replace('"program": "', '"program": "00'),
        "lineage: the lineage ends with another program",
    ),
]


@pytest.mark.parametrize(("path", "change", "why"), TAMPERED, ids=[f"{number}" for number in range(len(TAMPERED))])
def test_what_was_changed_fails_with_the_reason(deterministic, path, change, why):
    """By its file where the manifest is the old one, and by the claim where somebody has written a new one."""
    plain = verified(changed(deterministic, path, change, hashed=False))
    assert plain.verdict == DIFFERS
    assert reason(plain) == f"file: {path} was changed: its hash is not the one in the manifest"
    forged = verified(changed(deterministic, path, change))
    assert (forged.verdict, reason(forged)) == (DIFFERS, why)


@pytest.mark.parametrize(
    ("path", "change", "why"),
    [
        (
            "certificate/numbers.json",
            lambda text: "[6.75]",
            "certificate: the stored proof is not the one that the evaluator makes",
        ),
        (
            "artifacts/numbers.json",
            lambda text: "[7.5]",
            "certificate: the stored proof is not the one that the evaluator makes",
        ),
        (
            RECORD,
            lambda text: text.replace('"fitness": 6.5', '"fitness": 6.75'),
            "lineage: the lineage ends with another score than the record has",
        ),
    ],
)
def test_a_certificate_that_was_changed_fails(certified, path, change, why):
    found = verified(changed(certified, path, change))
    assert (found.verdict, reason(found)) == (DIFFERS, why)


def test_a_file_too_many_fails_and_nothing_runs(deterministic):
    judges = ReadingJudges()
    found = verified({**deterministic, "task/number/sitecustomize.py": b"evil"}, judges)
    assert (found.verdict, judges.asked) == (DIFFERS, [])


def test_a_strangers_evaluator_never_runs_unasked(deterministic):
    """What can be told without it is told."""
    judges = ReadingJudges()
    found = verified(deterministic, judges, trusted=False)
    assert (found.verdict, judges.asked, verdicts(found)["files"]) == (CANNOT_BE_TOLD, [], AGREES)
    assert "--trust" in found.checks[-1].why


def test_a_quarantined_program_does_not_agree(tmp_path):
    found = Found(tmp_path).promoted()
    found.ruled(Ruled("quarantine", found.campaign.log.settled(2).record.program, "a person", "cheats"))
    assert reason(verified(found.export().contents)) == "ruling: a person: cheats"


def test_other_last_digits_count_as_none_elsewhere_alone(deterministic):
    """Where Python or a library is another one; here they are a difference."""
    judges = ReadingJudges(noise=(1e-12,))
    assert verdicts(verified(deterministic, judges))["score"] == DIFFERS
    other = verified(deterministic, ReadingJudges(noise=(1e-12,), environment="python 4"))
    assert verdicts(other)["score"] == AGREES
    assert verdicts(verified(deterministic, ReadingJudges(noise=(1e-3,), environment="python 4")))["score"] == DIFFERS


def test_a_task_that_cannot_be_read_cannot_be_told(deterministic):
    broken = changed(deterministic, "task/number/task.toml", lambda text: text + "x = [")
    found = verified(broken)
    assert found.verdict == CANNOT_BE_TOLD
    assert "this is not TOML" in found.checks[-1].why


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"task/number"', '"../../tmp"'),
        lambda text: text.replace('"artifacts/numbers.json"', '"artifacts/none.json"'),
        lambda text: text.replace('"program/seed.py"', '"/etc/passwd"'),
    ],
)
def test_a_record_that_names_other_files_is_an_error(deterministic, change):
    with pytest.raises(ConfigError, match="the export has no"):
        verified(changed(deterministic, RECORD, change))


def claim(**fields):
    plain = {
        "name": "circle_packing",
        "version": "",
        "folder": "task/x",
        "path": "task/x",
        "parameters": {"n": 26},
        "fitness": "f",
    }
    rest = {"direction": "max", "digits": 6, "deterministic": True, "promotion": "certificate"}
    return TaskClaim(**{**plain, **rest, **fields})


def test_a_task_is_known_by_its_version_and_by_nothing_in_the_current_folder(tmp_path, monkeypatch):
    """A folder with a bundled task's name says nothing."""
    version = evolve.task.load(place_of_bundled("circle_packing")).version
    assert is_known_task(claim(version=version))
    assert not is_known_task(claim(version="0" * 64))
    assert not is_known_task(claim(name="number", version=version))
    (tmp_path / "circle_packing").mkdir()
    (tmp_path / "circle_packing" / "problem.py").write_text(EVALUATOR)
    monkeypatch.chdir(tmp_path)
    assert is_known_task(claim(version=version))


def test_a_text_among_the_parameters_must_be_the_tasks_own():
    """An evaluator may read much into one."""
    place = place_of_bundled("cfr_variant")
    own = dict(evolve.task.load(place).parameters)
    assert is_known_task(claim(name="cfr_variant", parameters=own, version=evolve.task.load(place).version))
    other = {**own, "games": "kuhn4"}
    version = evolve.task.load(place, other).version
    assert not is_known_task(claim(name="cfr_variant", parameters=other, version=version))


@pytest.fixture
def noisy(tmp_path):
    found = Found(tmp_path, deterministic=False)
    found.again(2, 6.4)
    found.again(2, 6.6)
    return found.promoted().export().contents


def forged(contents, path, data):
    """By somebody who writes the manifest anew."""
    return add_manifest({**{name: old for name, old in contents.items() if name != MANIFEST}, path: data})


def told(contents, change):
    """With another record."""
    record = json.loads(contents[RECORD])
    change(record)
    return forged(contents, RECORD, json.dumps(record).encode())


def reasons(found):
    return [check.why for check in found.checks if check.verdict == DIFFERS]


def better(record):
    """A better score than the program has."""
    record["value"]["fitness"] = record["judgings"][0]["fitness"] = 6.75


NOISE = (0.1, -0.1, 0.05)


def test_an_honest_noisy_program_fits_together(noisy):
    found = verified(noisy, ReadingJudges(noise=NOISE))
    assert (found.verdict, verdicts(found)["value"]) == (AGREES, AGREES)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"fitness": 6.55}, "it is not the mean of the evaluations"),
        ({"count": 1000}, "it is not the mean of the evaluations"),
        ({"standard_error": 1e-9}, "its standard error is smaller than the evaluations allow"),
        ({"low": 6.4999, "high": 6.5001}, "the limits of 95 % do not follow from its standard error"),
        ({"low": None}, "the limits of 95 % do not follow from its standard error"),
    ],
)
def test_a_noisy_value_follows_from_its_judgings(noisy, fields, why):
    changed = told(noisy, lambda record: record["value"].update(fields))
    assert reasons(verified(changed, ReadingJudges(noise=NOISE))) == [why]


def test_the_judging_that_chose_a_program_confirms_nothing(tmp_path):
    contents = Found(tmp_path, deterministic=False).promoted().export().contents
    changed = told(contents, lambda record: record["value"].pop("confirmed"))
    assert reasons(verified(changed, ReadingJudges(noise=NOISE))) == [
        "the evaluation that chose it is among those that are said to confirm it"
    ]


@pytest.mark.parametrize(
    "path", ["program/other.py", "PROOF.md", "task/number/archive/campaigns/evil.py", "artifacts/more.json"]
)
def test_a_file_that_nothing_names_differs_though_the_manifest_has_it(deterministic, path):
    assert reasons(verified(forged(deterministic, path, b"[1]"))) == [
        f"{path} is in no part of the export: nothing names it"
    ]


def test_a_person_finds_in_program_what_was_judged(deterministic):
    """And not another text, while what is evaluated lies elsewhere."""
    other = forged(deterministic, "lineage/x.py", deterministic["program/seed.py"])
    hidden = forged(other, "program/seed.py", b"def seed():\n    return 9000\n")
    changed = told(hidden, lambda record: record.update(files={"seed.py": "lineage/x.py"}))
    assert "the program's files do not lie in program/ by their names" in reasons(verified(changed))


@pytest.mark.parametrize("path", ["README.md", "verify.py"])
def test_a_page_that_is_not_made_of_the_record_is_no_agreement(deterministic, path):
    """Its words may be anybody's."""
    found = verified(forged(deterministic, path, b"nearness 9000"))
    assert (found.verdict, verdicts(found)[path]) == (CANNOT_BE_TOLD, CANNOT_BE_TOLD)


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (lambda record: record["judgings"][0].update(trust="rescored"), "trust"),
        (lambda record: record["judgings"][0].update(violation=2.0), "constraints"),
        (lambda record: record.update(seed_fitness=1.0), "the seed's score"),
        (lambda record: record["judgings"][-1].update(fitness=0.5), "held out: further on, the seed"),
        (lambda record: record["judgings"].pop(), "held out: further on"),
        (lambda record: record["task"].update(name="circle_packing"), "task"),
        (lambda record: record.update(value=None), "value"),
    ],
)
def test_what_is_told_beside_the_score_is_found_again(deterministic, change, claim):
    found = verified(told(deterministic, change))
    assert (found.verdict, verdicts(found)[claim]) == (DIFFERS, DIFFERS)


def test_a_better_score_told_everywhere_is_not_found_again(deterministic):
    """In the judging, in the value and in the lineage."""
    steps = deterministic["lineage/steps.json"].replace(b"6.5", b"6.75")
    changed = told(forged(deterministic, "lineage/steps.json", steps), better)
    assert reasons(verified(changed)) == ["the value is another one"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda record: record["judgings"][0].update(fitness=10**400), "a number has 401 digits"),
        (lambda record: record["task"]["parameters"].update(offset=10**400), "a number has 401 digits"),
        (lambda record: record["task"].update(digits=10**10), "the fitness has 10000000000 digits"),
        (lambda record: record["value"].update(count=0), "the value rests on 0 evaluations"),
        (lambda record: record["value"].update(standard_error=-1.0), "with a standard error of -1.0"),
    ],
)
def test_numbers_that_cannot_be_are_one_line(deterministic, change, why):
    with pytest.raises(ConfigError, match=why):
        verified(told(deterministic, change))


@pytest.mark.parametrize(
    ("path", "data", "why"),
    [
        (RECORD, b'{"schema": 1, "schema": 1}', "a key is there twice"),
        (RECORD, b'{"schema": 1, "x": 1e999}', "1e999 is no number"),
        ("program/seed.py", b"\xff", "program/seed.py is no text in UTF-8"),
        ("lineage/steps.json", b'[{"record": "x"}]', "lineage/steps.json cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_line(deterministic, path, data, why):
    with pytest.raises(ConfigError, match=why):
        verified(forged(deterministic, path, data))


def test_true_is_not_1_in_a_proof(tmp_path):
    contents = Found(tmp_path, fitness=1.0, promotion="certificate").certified().export().contents
    found = verified(forged(contents, "certificate/numbers.json", b"[true]"))
    assert verdicts(found)["certificate"] == DIFFERS
