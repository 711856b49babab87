"""A comparison as one value."""

import pytest

from evolve.compare import Arm, Group, Question, compared, weighed
from evolve.types import ConfigError
from tests.compare.runs import arm, failed, run
from tests.written import short_campaign

BETTER = arm("climb", [10.0 + seed for seed in range(8)])
WORSE = arm("best_of_n", [1.0 + seed / 2 for seed in range(8)])


def test_everything_of_two_arms_is_in_it():
    """Values, bands, the duel, wins, targets, area."""
    found = weighed([BETTER, WORSE], Question())
    assert (found.task, found.per, found.end, found.baseline) == ("number", "programs", 100.0, "best_of_n")
    assert [line.arm for line in found.lines] == ["climb", "best_of_n"]
    assert found.lines[0].finals == (10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0)
    assert found.lines[0].final == 13.5
    assert [band.middle[-1] for band in found.bands] == [13.5, 2.75]
    assert [(duel.arm, duel.verdict) for duel in found.duels] == [("climb", "better")]
    assert [(one.arm, one.other, one.won, one.lost) for one in found.wins] == [
        ("climb", "best_of_n", 8, 0),
        ("best_of_n", "climb", 0, 8),
    ]
    # Each is worth its value from program 50 on, on a scale from 0 to the anchor 20.
    assert found.lines[0].area is not None
    assert found.lines[0].area.estimate == pytest.approx(13.5 / 20 / 2)
    assert found.improved


def test_equal_questions_have_equal_answers():
    """Draws included; another seed draws otherwise."""
    assert weighed([BETTER, WORSE], Question()) == weighed([BETTER, WORSE], Question())
    assert weighed([BETTER, WORSE], Question(seed=1)) != weighed([BETTER, WORSE], Question())


def test_failed_campaigns_stay_in_every_figure():
    """Two of eight: they have no value, lose, and are told."""
    group = Group("climb", (*BETTER.courses[:6], failed(6, "climb"), failed(7, "climb")))
    found = weighed([group, WORSE], Question())
    line = found.lines[0]
    assert (line.failed, line.finals[6:], len(line.campaigns)) == (2, (None, None), 8)
    assert (found.wins[0].won, found.wins[0].lost) == (6, 2)
    assert {one.campaigns for one in found.reached} == {8}
    assert found.notes == ("climb: failed, and counted as worse than all others: climb-s6, climb-s7",)


def test_a_baseline_that_there_is_not_is_an_error():
    """With what is meant."""
    with pytest.raises(ConfigError, match=r"there is no arm 'clim'\. Did you mean 'climb'"):
        weighed([BETTER, WORSE], Question(baseline="clim"))
    assert weighed([BETTER, WORSE], Question(baseline="climb")).duels[0].verdict == "worse"


def test_what_is_equal_is_what_the_budget_counts():
    """Seconds, where all campaigns have so many; programs where they differ; what is asked for comes first."""
    timed = [Group(one.name, tuple(run(0, (5, 1.0), budget=("50s",)) for _ in range(2))) for one in (BETTER, WORSE)]
    assert (weighed(timed, Question()).per, weighed(timed, Question()).end) == ("seconds", 50.0)
    assert weighed([timed[0], WORSE], Question()).per == "programs"
    assert weighed(timed, Question(per="programs")).per == "programs"


def test_open_campaigns_are_compared(tmp_path):
    """As the pages do; two of them conclude nothing."""
    with short_campaign(tmp_path, "first") as one, short_campaign(tmp_path, "second") as other:
        found = compared([Arm("a", [one]), Arm("b", [other])])
    assert [line.finals for line in found.lines] == [(6.5,), (6.5,)]
    assert [duel.verdict for duel in found.duels] == ["too few"]
    assert found.notes == ("a: its budget is not spent yet: first", "b: its budget is not spent yet: second")
    assert found.settings == {"a": {}, "b": {}}
