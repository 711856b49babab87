"""Facts about judging claims again."""

import pytest
from exported_here import Found, ReadingJudges, changed, verdicts, verified

from evolve.publish import AGREES, CANNOT_BE_TOLD, DIFFERS
from evolve.publish.claims import RECORD
from evolve.types import FROM_SCRATCH, Origin, Outcome


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
    """What the program finds again is told, and does not matter."""
    contents = Found(tmp_path, deterministic=False, promotion="certificate").certified().export().contents
    found = verified(contents, ReadingJudges(noise=(-3.0,)))
    assert found.verdict == AGREES
    again = next(check for check in found.checks if check.what == "run again")
    assert (again.matters, again.claimed, again.found) == (False, "ok 6.5", "ok 3.5")


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
