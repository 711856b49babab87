"""Facts about what an export tells of itself without being judged: it must fit together."""

import json

import pytest
from exported_here import Found, ReadingJudges, verdicts, verified

from evolve.publish import AGREES, CANNOT_BE_TOLD, DIFFERS
from evolve.publish.claims import RECORD
from evolve.publish.contents import MANIFEST, with_manifest
from evolve.types import ConfigError


@pytest.fixture
def deterministic(tmp_path):
    return Found(tmp_path).promoted().export().contents


@pytest.fixture
def noisy(tmp_path):
    found = Found(tmp_path, deterministic=False)
    found.again(2, 6.4)
    found.again(2, 6.6)
    return found.promoted().export().contents


def forged(contents, path, data):
    """By somebody who writes the manifest anew."""
    return with_manifest({**{name: old for name, old in contents.items() if name != MANIFEST}, path: data})


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
        ({"fitness": 6.55}, "it is not the mean of the judgings"),
        ({"count": 1000}, "it is not the mean of the judgings"),
        ({"standard_error": 1e-9}, "its standard error is smaller than the judgings allow"),
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
        "the judging that chose it is among those that are said to confirm it"
    ]


@pytest.mark.parametrize(
    "path", ["program/other.py", "PROOF.md", "task/number/archive/campaigns/evil.py", "artifacts/more.json"]
)
def test_a_file_that_nothing_names_differs_though_the_manifest_has_it(deterministic, path):
    assert reasons(verified(forged(deterministic, path, b"[1]"))) == [
        f"{path} is in no part of the export: nothing names it"
    ]


def test_a_person_finds_in_program_what_was_judged(deterministic):
    """And not another text, while what is judged lies elsewhere."""
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
        (lambda record: record["judgings"][0].update(fitness=10**400), "a number has 1,329 bits"),
        (lambda record: record["task"]["parameters"].update(offset=10**400), "a number has 1,329 bits"),
        (lambda record: record["task"].update(digits=10**10), "the fitness has 10000000000 digits"),
        (lambda record: record["value"].update(count=0), "the value rests on 0 judgings"),
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
    assert verdicts(found)["proof 'numbers'"] == DIFFERS
