"""What may be compared."""

from dataclasses import replace

import pytest

from evolve.types import ConfigError
from evolve_compare.fairness import ComparedArm, check_fairness
from tests.plugins.evolve_compare.example_outcomes import CONDITIONS, arm, failed, run


def other(**fields: object) -> list[ComparedArm]:
    """Two arms of which the second has other conditions."""
    changed = replace(CONDITIONS, **fields)
    return [arm("a", [1.0, 2.0]), ComparedArm("b", (run(0, (50, 1.0), name="b", conditions=changed),))]


def test_arms_of_equal_conditions_have_nothing_to_be_said():
    """Finished campaigns of one length."""
    assert check_fairness([arm("a", [1.0, 2.0]), arm("b", [1.0, 2.0])], "programs") == ()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"task": "other"}, "another task do not compare, got 'number' (a-s0) and 'other' (b-s0)"),
        (
            {"version": "b" * 64},
            "another version of the task do not compare, got 'aaaaaaaaaaaa' (a-s0) and 'bbbbbbbbbbbb'",
        ),
        ({"settings": {"parameters.n": "9"}}, "another parameters of the task do not compare"),
    ],
)
def test_what_makes_scores_mean_something_else_is_refused(fields, told):
    """Both campaigns are named."""
    with pytest.raises(ConfigError) as error:
        check_fairness(other(**fields), "programs")
    assert told in str(error.value)


def test_other_hardware_is_refused_where_time_decides_and_told_where_it_does_not():
    """A deterministic task at equal programs is the same everywhere."""
    groups = other(hardware="two cores")
    assert check_fairness(groups, "programs") == ("the hardware differs: one core; two cores",)
    with pytest.raises(ConfigError, match="another hardware"):
        check_fairness(groups, "seconds")
    noisy = [
        ComparedArm(
            one.name,
            tuple(replace(run, conditions=replace(run.conditions, deterministic=False)) for run in one.outcomes),
        )
        for one in groups
    ]
    with pytest.raises(ConfigError, match="another hardware"):
        check_fairness(noisy, "programs")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"isolation": "none"}, "the isolation differs: none; strict"),
        ({"workers": 4}, "the number of workers differs: 1; 4"),
        ({"evolve": "2"}, "the version of evolve differs: 1; 2"),
    ],
)
def test_what_may_have_favoured_an_arm_is_told(fields, told):
    """And compared all the same."""
    assert check_fairness(other(**fields), "programs") == (told,)


def test_each_campaign_that_did_not_end_as_it_should_is_named():
    """Failed, not spent, ended early, or without a value."""
    groups = [
        ComparedArm("a", (failed(0, "a"), run(1, (5, 1.0), name="a", status="unfinished"))),
        ComparedArm(
            "b",
            (
                run(0, (5, 1.0), name="b", status="exhausted", programs=7),
                run(1, name="b", final=None, problem="its best was not measured again"),
            ),
        ),
    ]
    assert check_fairness(groups, "programs") == (
        "a: failed, and counted as worse than all others: a-s0",
        "a: its budget is not spent yet: a-s1",
        "b: ended early, nothing new was proposed any more: b-s0",
        "b: its best was not measured again: b-s1",
    )


def test_different_lengths_are_told():
    """All are looked at where the shortest ends."""
    groups = [arm("a", [1.0]), ComparedArm("b", (run(0, (5, 1.0), programs=300),))]
    assert check_fairness(groups, "programs") == (
        "campaigns have spent from 100 to 300 programs: all are looked at where the shortest ends",
    )


@pytest.mark.parametrize("groups", [[], [arm("a", [1.0])], [arm("a", [1.0]), ComparedArm("b", ())]])
def test_there_are_two_arms_with_campaigns(groups):
    """Fewer are no comparison."""
    with pytest.raises(ConfigError, match=r"at least two arms|has no campaign"):
        check_fairness(groups, "programs")


@pytest.mark.parametrize("resource", ["calls", "tokens", "money"])
def test_what_nobody_has_spent_is_not_held_equal(resource):
    """Without a model there are no calls; a model may be free."""
    arms = [arm("a", [1.0]), arm("b", [1.0])]
    with pytest.raises(ConfigError, match=f"{resource} cannot be held equal where no campaign has"):
        check_fairness(arms, resource)
