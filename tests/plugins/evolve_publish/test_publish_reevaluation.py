"""Facts about judging claims again."""

import json
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest
from exported_here import Found, ReadingJudges, changed, verdicts, verified

import evolve.task
from evolve.commands import Worker
from evolve.evaluation import Description, Report, encode_report
from evolve.types import FROM_SCRATCH, Evaluation, Fitness, Origin, Outcome, Task, TextId, text_id
from evolve_publish.claims import RECORD, Claims, EvaluationClaim, TaskClaim, ValueClaim
from evolve_publish.reevaluation import (
    AGREES,
    CANNOT_BE_TOLD,
    DIFFERS,
    ClaimCheck,
    Reevaluation,
    check_certificate,
    check_equal,
    compare_exact,
    compare_noisy,
    compare_with_seed,
    worst_verdict,
)


def test_times_of_another_machine_cannot_be_told(tmp_path):
    """The answers of the program are checked there all the same."""
    found = Found(tmp_path, deterministic=False, timed=True)
    found.again(2, 6.4)
    contents = found.promoted().export().contents
    assert verified(contents, ReadingJudges(noise=(0.1, 0.0))).verdict == AGREES
    other = verified(contents, ReadingJudges(hardware="other"))
    assert (other.verdict, verdicts(other)["score"]) == (CANNOT_BE_TOLD, CANNOT_BE_TOLD)
    assert "its answers pass; timings compare on one hardware class" in other.checks[-1].why
    wrong = verified(contents, ReadingJudges(hardware="other", outcome=Outcome.WRONG))
    assert verdicts(wrong)["score"] == DIFFERS


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize(("outcome", "verdict"), [(Outcome.INTERNAL, CANNOT_BE_TOLD), (Outcome.CRASHED, DIFFERS)])
def test_what_the_judges_cannot_judge_cannot_be_told(tmp_path, deterministic, outcome, verdict):
    """A program that fails where it passed differs; the first line of why is told."""
    contents = Found(tmp_path, deterministic=deterministic).promoted().export().contents
    found = verified(contents, ReadingJudges(outcome=outcome))
    assert found.verdict == verdict
    assert {check.why for check in found.checks if check.verdict == verdict} >= {"it did not"}


def test_of_a_noisy_task_the_certificate_decides_alone(tmp_path):
    """The program, which may find something else, is not run."""
    contents = Found(tmp_path, deterministic=False, promotion="certificate").certified().export().contents
    judges = ReadingJudges(noise=(-3.0,))
    assert verified(contents, judges).verdict == AGREES
    assert [job.kind for job in judges.asked] == ["certify"]


def test_a_noisy_program_that_never_passed_has_no_score_to_compare(tmp_path):
    found = Found(tmp_path, deterministic=False)
    found.failure(Outcome.CRASHED, "it divided by zero")
    assert verdicts(verified(found.export(3).contents))["score"] == CANNOT_BE_TOLD


def test_a_program_that_failed_fails_again(tmp_path):
    found = Found(tmp_path)
    found.failure(Outcome.CRASHED, "it divided by zero")
    contents = found.export(3).contents
    assert verified(contents, ReadingJudges(outcome=Outcome.CRASHED)).verdict == AGREES
    assert verified(contents).verdict == DIFFERS


def test_what_a_parent_left_is_handed_over_again(tmp_path):
    found = Found(tmp_path)
    left = found.campaign.log.settled(1).record.evaluation.artifacts["numbers"]
    found.proposal(7.0, carried={"numbers": left})
    contents = found.export(3).contents
    judges = ReadingJudges()
    assert verified(contents, judges).verdict == AGREES
    assert contents["carried/numbers.json"] == b"[5.0]"
    assert judges.asked[0].trial.carried == {"numbers": [5.0]}


def test_a_judging_from_scratch_is_told_and_promotes_nothing(tmp_path):
    found = Found(tmp_path).promoted()
    program = found.campaign.log.program(found.campaign.log.settled(2).record.program)
    found._settle(Origin("measurement", found.next, about=2, case=FROM_SCRATCH), program, found._ok(6.0))
    made = found.export()
    assert [one.part for one in made.claims.judgings] == ["search", "case", "from scratch", "case"]
    assert verified(made.contents).verdict == AGREES


def test_a_noisy_program_that_is_once_worse_on_a_case_is_judged_there_again(tmp_path):
    found = Found(tmp_path, deterministic=False)
    found.again(2, 6.4)
    contents = found.promoted().export().contents
    judges = ReadingJudges(noise=(-2.0, 2.0))
    verified(contents, judges)
    seeds = [job.trial.seed for job in judges.asked if job.trial.split == "held_out"]
    assert len(seeds) == 10
    assert len(set(seeds)) == 5


@pytest.mark.parametrize("deterministic", [True, False])
def test_judges_elsewhere_draw_what_the_campaign_drew(tmp_path, deterministic):
    """They get its secret with the export; one of before there were secrets has none."""
    found, judges = Found(tmp_path, deterministic=deterministic).promoted(), ReadingJudges()
    contents = found.export().contents
    verified(contents, judges)
    assert {job.trial.secret for job in judges.asked} == {found.campaign.secret}
    older = changed(contents, RECORD, lambda text: text.replace(f' "secret": "{found.campaign.secret}",\n', ""))
    judges = ReadingJudges()
    verified(older, judges)
    assert {job.trial.secret for job in judges.asked} == {""}


TWO = {"centres": [["1/4", "1/2"], ["3/4", "1/2"]], "radii": ["1/4", "1/4"], "sum": "1/2"}
NEAR = {**TWO, "radii": ["1/4", "249999999999999/1000000000000000"], "sum": "499999999999999/1000000000000000"}
OVERLAP = {**TWO, "radii": ["1/4", "1/2"], "sum": "3/4"}


class Proving:
    """Certifies a value by a proof, whatever it is asked."""

    def __init__(self, value: float, proof: Any) -> None:
        self.value, self.proof = value, json.dumps(proof)

    def submit(self, job_id: str, job: bytes) -> "Future[bytes]":
        text = TextId(text_id(self.proof))
        evaluation = replace(Evaluation.ok(self.value), certified=True, artifacts={"certificate": text})
        future: Future[bytes] = Future()
        future.set_result(encode_report(Report(evaluation, {text: self.proof})))
        return future


def told(stored: Any, made: tuple[float, Any], hardware: str = "there", **changed: Any) -> list[tuple[str, str]]:
    """What is said of a stored proof of 0.5, where it was found on the processor `here`."""
    task: Task = replace(evolve.task.load("circle_packing"), parameters={"n": 2}, **changed)
    claim = TaskClaim(task.name, task.version, "task", "task", task.parameters, "sum", "max", 12, True, "certificate")
    judgings = (
        EvaluationClaim(1, "search", "ok", 0.5, artifacts={"centres": "centres.json"}, hardware="here"),
        EvaluationClaim(2, "certificate", "ok", 0.5, artifacts={"certificate": "proof.json"}, hardware="here"),
    )
    claims = Claims("two/1", task.seed.id, {}, claim, judgings, "proposal")
    contents = {"centres.json": b"[]", "proof.json": json.dumps(stored).encode()}
    judges = Worker(Proving(*made), Description(hardware=hardware, environment="", isolation="strict"))
    return [
        (check.what, check.verdict)
        for check in check_certificate(Reevaluation(claims, contents, task.seed, task, judges))
    ]


PROOF_AGREES = [("certificate", "agrees")]
PROOF_DIFFERS = [("certificate", "differs")]
NEAR_MADE = (0.499999999999999, NEAR)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("stored", "made", "more", "found"),
    [
        (TWO, (0.5, TWO), {}, PROOF_AGREES),
        (TWO, NEAR_MADE, {}, PROOF_AGREES),
        (TWO, NEAR_MADE, {"hardware": "here"}, PROOF_DIFFERS),
        (TWO, NEAR_MADE, {"verifier": ""}, PROOF_DIFFERS),
        (TWO, (0.4, NEAR), {}, PROOF_DIFFERS),
        (OVERLAP, NEAR_MADE, {}, PROOF_DIFFERS),
        (NEAR, NEAR_MADE, {}, PROOF_DIFFERS),
    ],
    ids=["same", "last digits", "same processor", "no verifier", "another value", "no proof", "less than claimed"],
)
def test_a_proof_that_another_processor_makes_otherwise_is_checked_by_the_verifier(
    stored: Any, made: tuple[float, Any], more: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    """Exactly, and only where the values are the same but for the last digits; in all other cases it must be the same proof."""
    assert told(stored, made, **more) == found


MAX, MIN = Fitness("gain", "max"), Fitness("loss", "min")
NOISY = ValueClaim(10.0, standard_error=0.1, count=5, low=9.7, high=10.3)


@pytest.mark.parametrize(
    ("claimed", "found", "elsewhere", "verdict"),
    [
        (1.0, 1.0, "", "agrees"),
        (1.0, 1.0 + 1e-15, "", "differs"),
        (1.0, 1.0 + 1e-10, "numpy is another", "agrees"),
        (1.0, 1.0 + 1e-8, "numpy is another", "differs"),
        (0.0, 1e-13, "numpy is another", "agrees"),
        (1.0, None, "numpy is another", "differs"),
        (None, None, "", "agrees"),
    ],
)
def test_deterministic_values_are_the_same_but_for_floats_elsewhere(claimed, found, elsewhere, verdict):
    assert compare_exact("score", claimed, found, elsewhere=elsewhere).verdict == verdict


@pytest.mark.parametrize(
    ("fitness", "found", "elsewhere", "verdict"),
    [
        (MAX, [10.1, 9.9, 10.0], "", "agrees"),
        (MAX, [8.1, 7.9, 8.0], "", "differs"),
        (MAX, [12.1, 11.9, 12.0], "", "agrees"),
        (MIN, [12.1, 11.9, 12.0], "", "differs"),
        (MIN, [8.1, 7.9, 8.0], "", "agrees"),
        (MAX, [8.1, 7.9, 8.0], "another machine", "cannot be told"),
        (MAX, [10.0, 10.0, 10.0], "another machine", "agrees"),
    ],
)
def test_noisy_values_agree_within_chance_or_where_they_are_better(fitness, found, elsewhere, verdict):
    """In the task's own direction; on another hardware class a worse one tells nothing."""
    assert compare_noisy("score", NOISY, found, fitness, elsewhere=elsewhere).verdict == verdict


def test_a_claim_without_an_error_is_as_noisy_as_what_is_found():
    assert compare_noisy("score", ValueClaim(10.0), [10.4, 9.6, 10.1], MAX).verdict == "agrees"
    assert compare_noisy("score", ValueClaim(10.0), [8.4, 7.6, 8.1], MAX).verdict == "differs"


def test_nobody_is_believed_for_being_vague():
    vague = ValueClaim(20.0, standard_error=100.0, count=5)
    assert compare_noisy("score", vague, [10.1, 9.9, 10.0, 10.05, 9.95], MAX).verdict == "differs"


@pytest.mark.parametrize(
    ("gains", "elsewhere", "verdict"),
    [
        ([0.0], "", "agrees"),
        ([-1.0], "", "differs"),
        ([-0.1, 0.2, 0.1], "", "agrees"),
        ([-0.1, -0.3, 0.2], "", "agrees"),
        ([-1.0, -1.1, -0.9], "", "differs"),
        ([-1.0, -1.1, -0.9], "another machine", "cannot be told"),
    ],
)
def test_a_program_is_no_worse_than_the_seed_within_chance(gains, elsewhere, verdict):
    assert compare_with_seed("case", gains, MAX, elsewhere=elsewhere).verdict == verdict


@pytest.mark.parametrize(
    ("fitness", "gain", "found"),
    [
        (MAX, 2.5, "+2.5 to the seed"),
        (MIN, 2.5, "-2.5 to the seed"),
        (MIN, 0.0, "+0 to the seed"),
    ],
)
def test_what_is_gained_on_a_case_is_told_in_the_task_s_own_direction(fitness, gain, found):
    """Of a task that minimises, a better program is below the seed."""
    assert compare_with_seed("case", [gain], fitness).found == found


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ((AGREES, AGREES), AGREES),
        ((AGREES, CANNOT_BE_TOLD), CANNOT_BE_TOLD),
        ((CANNOT_BE_TOLD, DIFFERS, AGREES), DIFFERS),
        ((), CANNOT_BE_TOLD),
    ],
)
def test_one_difference_is_a_difference_and_nothing_is_no_agreement(verdicts, whole):
    assert worst_verdict(verdicts) == whole


def test_a_reason_stands_with_a_difference_alone():
    assert check_equal("value", "1", "1", "why").why == ""
    assert check_equal("value", "1", "2", "why") == ClaimCheck("value", DIFFERS, "1", "2", "why")
