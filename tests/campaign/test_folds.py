"""Folds of a campaign: progress, calls, refusals, isolation levels, and the choice of models."""

from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve import plugins
from evolve.campaign import Campaign, ModelFailures
from evolve.campaign.folds import NOTHING_NEW, TIRED, Calls, CallTotals, Ensemble, LevelsReached, Refusals
from evolve.config import ModelsSection
from evolve.types import (
    Asked,
    Call,
    Evaluation,
    Event,
    Insertion,
    Level,
    Origin,
    Outcome,
    Placement,
    ProgramId,
    Propose,
    Record,
    Replied,
    SandboxError,
    Selection,
    Settled,
)
from tests.written import Written

GOOD = Call("good", prompt_tokens=10)
BAD = Call("bad", error="it exited with 3")


def test_failed_calls_are_counted_by_model_with_the_last_reason(tmp_path):
    """Whatever they were for; the model that failed most often first."""
    written = Written(tmp_path)
    written.seed()
    written.called(GOOD, BAD, replace(BAD, error="refused", purpose="embed"), replace(GOOD, error="late"))
    with written.campaign as campaign:
        failures = campaign.state.calls
        assert failures.failures() == (ModelFailures("bad", 2, 2, "refused"), ModelFailures("good", 2, 1, "late"))
        assert failures.failed == 3


def test_counted_live_or_from_the_log_failures_are_the_same(tmp_path):
    """One call after another."""
    written = Written(tmp_path)
    written.seed()
    for _ in range(3):
        written.called(GOOD, BAD)
        written.proposal(6.0, operator="diff", model="good")
    with written.campaign as campaign:
        live, path = campaign.state.calls.failures(), str(campaign.log.path)
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert again.state.calls.failures() == live
        assert [line.failed for line in live] == [3]


def test_what_was_given_up_when_a_run_ended_has_not_failed(tmp_path):
    """Nor has a check before any step."""
    written = Written(tmp_path)
    written.seed()
    with written.campaign as campaign:
        with campaign.log.transaction():
            campaign.write(Replied(0, -1, replace(GOOD, purpose="check")))
            campaign.write(Replied(1, -1, replace(BAD, error="the run was stopped")))
        assert campaign.state.calls.failures() == ()
        assert campaign.state.calls.failed == 0


def first_free(*numbers: int, request: str = "a", count: int = 4) -> list[int]:
    """The first numbers that no call has, where calls of request "a" have these numbers."""
    calls = Calls()
    for number in numbers:
        calls.add(Replied(1, 0, Call("alpha", request="a", sample=number)))
    return list(islice(calls.free_samples(request), count))


def test_numbers_of_a_request_go_on_where_the_log_ends() -> None:
    assert (first_free(0, 1), first_free(0, 1, request="b")) == ([2, 3, 4, 5], [0, 1, 2, 3])


def test_a_number_whose_call_never_came_is_free_again() -> None:
    assert first_free(3, 1) == [0, 2, 4, 5]


@given(st.lists(st.integers(0, 12)))
def test_free_are_the_numbers_that_no_call_has(numbers: list[int]) -> None:
    assert first_free(*numbers, count=15) == [number for number in range(30) if number not in numbers][:15]


CALL = Call(
    "alpha",
    prompt_tokens=100,
    completion_tokens=10,
    cached_tokens=50,
    cost=0.5,
    gpu_seconds=2.0,
    seconds=3.0,
    exact=True,
)
ONE = CallTotals(1, 0, 100, 10, 50, 0.5, 2.0, 3.0, 1)


def test_calls_are_summed_by_operator_model_and_purpose_and_by_step() -> None:
    """Steps may have any numbers."""
    called = Calls()
    called.begin(Asked(7, Propose(Selection("diff")), 0))
    called.add(Replied(7, 0, CALL))
    called.add(Replied(7, 1, CALL))
    called.add(Replied(10**12, 0, Call("beta", purpose="repair", error="refused")))
    assert list(called.totals()) == [
        ("diff", "alpha", "propose", CallTotals(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)),
        ("", "beta", "repair", CallTotals(calls=1, failed=1)),
    ]
    assert called.of_steps([7]) == CallTotals(2, 0, 200, 20, 100, 1.0, 4.0, 6.0, 2)
    assert called.of_steps([1]) == CallTotals()
    assert called.of_steps([7, 10**12, 3]) == CallTotals(3, 1, 200, 20, 100, 1.0, 4.0, 6.0, 2)


def test_a_call_that_was_given_up_has_not_failed() -> None:
    """It costs what the log says of it."""
    called = Calls()
    called.add(Replied(3, -1, CALL))
    assert called.of_steps([3]) == ONE


def test_failed_requests_are_counted_by_model_and_cause(tmp_path):
    """Live, and from the log."""
    written = Written(tmp_path)
    written.seed()
    retried = replace(GOOD, retries={"503": 2, "time was up": 1})
    with written.campaign as campaign:
        written.called(retried, replace(BAD, retries={"503": 5}), replace(retried, retries={"503": 1}))
        live, path = campaign.state.calls, str(campaign.log.path)
    assert live.retries == {"good": {"503": 3, "time was up": 1}, "bad": {"503": 5}}
    with Campaign.open(path, plugins.load(), tmp_path) as again:
        assert (again.state.calls.retries, again.state.calls.failed_requests) == (live.retries, 9)


def settle(refusals: Refusals, step: int, outcome: Outcome = Outcome.SCREENED, *, called: bool = False) -> None:
    """A step of `tune` is asked, and settles."""
    refusals.ask("tune", step)
    record = Record(step, Origin("proposal", step, operator="tune"), None, Evaluation.failed(outcome, f"why {step}"))
    refusals.settle(record, called=called)


def refused(times: int) -> Refusals:
    """After so many refusals, by the steps from 1 on."""
    refusals = Refusals()
    for step in range(1, times + 1):
        settle(refusals, step)
    return refusals


@pytest.mark.parametrize(("times", "wait"), [(1, 1), (TIRED - 1, 1), (TIRED, 2), (2 * TIRED, 4), (5 * TIRED, 32)])
def test_each_so_many_refusals_halve_how_often_an_operator_is_asked(times: int, wait: int) -> None:
    """It is asked by the step that comes so many after the last one that asked it."""
    refusals = refused(times)
    assert [refusals.rests("tune", times + later) for later in (wait - 1, wait)] == [wait > 1, False]
    assert not refusals.rests("other", times + 1)


@pytest.mark.parametrize("how", [{"outcome": Outcome.WRONG}, {"outcome": Outcome.CRASHED}, {"called": True}])
def test_what_is_judged_or_was_a_model_s_answer_ends_the_row(how: dict) -> None:
    refusals = refused(3 * TIRED)
    settle(refusals, 100, **how)
    assert (refusals.list_tired(), refusals.rests("tune", 101)) == ({}, False)


def test_when_the_archive_has_changed_it_is_asked_once_more() -> None:
    refusals = refused(3 * TIRED)
    refusals.renew()
    assert not refusals.rests("tune", 3 * TIRED + 1)
    settle(refusals, 3 * TIRED + 1)
    assert refusals.rests("tune", 3 * TIRED + 2)
    assert refusals.list_tired() == {"tune": f"why {3 * TIRED + 1}"}


def test_an_operator_without_work_is_hardly_asked_however_often_the_archive_changes() -> None:
    """As in a campaign that improves all the time, on a seed without numbers."""
    refusals, asked = Refusals(), 0
    for step in range(1, 1_500):
        refusals.renew()
        if not refusals.rests("tune", step):
            asked += 1
            settle(refusals, step)
            refusals.settle(
                Record(step, Origin("proposal", step, operator="other"), None, Evaluation.ok(1.0)), called=False
            )
    assert asked < 80


def test_when_the_archive_has_changed_at_the_end_it_is_asked_once_more() -> None:
    """As by a measurement, which settles after the last proposal was refused."""
    refusals = refused(NOTHING_NEW)
    refusals.renew()
    assert not refusals.rests("tune", NOTHING_NEW + 1)
    settle(refusals, NOTHING_NEW + 1)
    assert refusals.rests("tune", 1 << 80)


def test_it_rests_for_good_when_nothing_new_was_proposed_for_long() -> None:
    assert refused(NOTHING_NEW - 1).unheard == NOTHING_NEW - 1
    refusals = refused(NOTHING_NEW)
    assert refusals.rests("tune", 1 << 80)
    settle(refusals, NOTHING_NEW + 1, Outcome.WRONG)
    assert refusals.unheard == 0


STRICT, STANDARD, REDUCED = "strict: namespaces, seccomp", "standard: landlock 7, seccomp", "reduced: a process"


def reached(*lines: str, inherited: int = 0) -> LevelsReached:
    found = LevelsReached(inherited)
    for line in lines:
        found.add(line)
    return found


@pytest.mark.parametrize(
    ("lines", "best"),
    [
        ((), None),
        ((STANDARD,), Level.STANDARD),
        ((STRICT, STANDARD), Level.STRICT),
        (("a fake", REDUCED), Level.REDUCED),
    ],
)
def test_the_level_of_a_campaign_is_its_best(lines: tuple[str, ...], best: Level | None) -> None:
    """Lines that name no level count for nothing."""
    found = reached(*lines)
    assert (found.best, found.least) == (best, best)


@pytest.mark.parametrize(("now", "goes_on"), [(Level.STRICT, True), (Level.STANDARD, True), (Level.REDUCED, False)])
def test_a_campaign_goes_on_at_no_less(now: Level, goes_on: bool) -> None:
    """At more it may."""
    found = reached(STANDARD)
    if goes_on:
        found.check("mine", now)
        return
    with pytest.raises(SandboxError) as refused:
        found.check("mine", now, "no Landlock")
    text = str(refused.value)
    assert (
        "'mine' was evaluated at the isolation level 'standard', and here it would go on at 'reduced' (no Landlock)"
        in text
    )
    assert "evolve campaign fork mine" in text


def test_a_campaign_without_a_run_may_begin_anywhere() -> None:
    """There is nothing to compare with."""
    reached().check("mine", Level.NONE)


def test_a_fork_begins_anew_and_knows_what_it_began_with() -> None:
    """Its own runs bind it, the old campaign's do not; both decide what is weaker."""
    fork = reached(STRICT, STRICT, STANDARD, inherited=2)
    assert (fork.best, fork.least) == (Level.STRICT, Level.STANDARD)
    fork.check("fork", Level.STANDARD)
    with pytest.raises(SandboxError, match="'standard'"):
        fork.check("fork", Level.REDUCED)


@pytest.mark.parametrize(
    ("line", "weaker"), [(STRICT, False), (STANDARD, True), (REDUCED, True), ("", False), ("a fake", False)]
)
def test_what_is_weaker_than_the_best(line: str, weaker: bool) -> None:
    """What names no level is not known to be."""
    assert reached(STANDARD, STRICT).weaker(line) is weaker


def section(**values: object) -> ModelsSection:
    members = [{"name": "strong", "weight": 3.0}, {"name": "weak"}]
    return ModelsSection.model_validate({"members": members, **values})


def proposal(record: int, model: str, fitness: float | None) -> list[Event]:
    """A proposal of `model` on the seed, and how it ended; None: it never came to a program."""
    origin = Origin("proposal", record, operator="diff", model=model, parents=(1,))
    found = Evaluation.failed(Outcome.SCREENED, "no edit") if fitness is None else Evaluation.ok(fitness)
    program = None if fitness is None else ProgramId(f"{record:064}")
    asked = Asked(record, Propose(Selection("diff", parents=(1,), model=model)), record - 1)
    return [asked, Settled(Record(record, origin, program, found), Placement(Insertion.NOT_ADDED))]


def seed() -> Event:
    return Settled(Record(1, Origin("seed", 0), ProgramId("1" * 64), Evaluation.ok(0.0)), Placement(Insertion.NEW))


def told(ensemble: Ensemble, events: list[Event]) -> Ensemble:
    for event in events:
        ensemble.tell(event)
    return ensemble


def test_fixed_weights_are_the_shares() -> None:
    ensemble = Ensemble(section(choice="weights"))
    assert ensemble.shares() == {"strong": 0.75, "weak": 0.25}
    assert ensemble.shares(["weak"]) == {"weak": 1.0}
    drawn = Counter(ensemble.choose(np.random.default_rng(seed), ("strong", "weak")) for seed in range(400))
    assert 270 < drawn["strong"] < 330


def test_fixed_weights_learn_nothing() -> None:
    ensemble = told(Ensemble(section(choice="weights")), [seed(), *proposal(2, "weak", 5.0)])
    assert ensemble.shares() == {"strong": 0.75, "weak": 0.25}


def test_the_bandit_moves_to_the_model_whose_children_gain() -> None:
    events: list[Event] = [seed()]
    for record in range(2, 80):
        events += proposal(record, "strong" if record % 2 else "weak", record / 10 if record % 2 else -1.0)
    shares = told(Ensemble(section()), events).shares()
    assert shares["strong"] > 0.8
    assert shares["weak"] >= 0.05


def test_a_model_that_never_works_keeps_its_floor_and_no_more() -> None:
    events: list[Event] = [seed()]
    for record in range(2, 200):
        events += proposal(record, "strong" if record % 4 == 0 else "weak", record / 10 if record % 4 == 0 else None)
    shares = told(Ensemble(section()), events).shares()
    assert 0.05 <= shares["weak"] < 0.25


def test_one_model_is_always_drawn() -> None:
    alone = Ensemble(ModelsSection.model_validate({"members": [{"name": "only"}]}))
    assert (alone.shares(), alone.choose(np.random.default_rng(0), ["only"])) == ({"only": 1.0}, "only")


def test_a_member_with_another_purpose_does_not_propose() -> None:
    other = section(choice="weights", purposes={"novelty": "weak"})
    assert Ensemble(other).shares() == {"strong": 1.0}
    both = section(choice="weights", purposes={"novelty": "weak", "propose": "weak"})
    assert Ensemble(both).shares() == {"strong": 0.75, "weak": 0.25}


def test_what_a_busy_model_has_no_time_for_goes_to_a_free_one_that_is_worth_it() -> None:
    """One whose answers are never usable is asked at its own turn alone, however often it is free."""
    ensemble = Ensemble(section(floor=0.05))
    both, rngs = ("strong", "weak"), [np.random.default_rng(seed) for seed in range(400)]
    assert {ensemble.choose(rng, ["weak"], both) for rng in rngs} == {"weak"}
    events: list[Event] = []
    for number in range(2, 200):
        model, fitness = both[number % 2], None if number % 2 else float(number)
        asked, settled = proposal(number, model, fitness)
        events += [asked, Replied(number, 0, Call(model)), settled]
    told(ensemble, [seed(), *events])
    drawn = Counter(ensemble.choose(rng, ["weak"], both) for rng in rngs)
    assert 0 < drawn["weak"] < 60
    assert drawn[None] == 400 - drawn["weak"]
    assert ensemble.choose(rngs[0], ["weak"], ["weak"]) == "weak"
