"""How facts are said."""

import pytest

from evolve import report, wording
from evolve.report.best import kept as what_is_kept
from evolve.types import Fitness
from tests.written import number_task

NEARNESS = Fitness("nearness", "max", 4)


def best(**fields: object) -> report.Best:
    """A best program."""
    values = {
        "name": "c/7",
        "record": 7,
        "program": "p",
        "fitness": 6.5,
        "standard_error": None,
        "measurements": 1,
        "certified": False,
        "isolation": "reduced: a process of its own",
        "trust": "witnessed",
        "seed": 5.0,
        "gain": 1.5,
        "improved": True,
        "anchors": (),
    }
    return report.Best(**{**values, **fields})


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [(2.541421356237, 4, "2.541"), (2.541421356237, 12, "2.54142135624"), (None, 4, "-")],
)
def test_a_fitness_has_the_tasks_digits(value, digits, expected):
    """A missing one is a dash."""
    assert expected == wording.number(value, Fitness(digits=digits))


@pytest.mark.parametrize(
    ("value", "expected"), [(0.01234567, "+0.0123"), (-1.5, "-1.5"), (3e-13, "+0"), (-3e-13, "+0"), (0.0, "+0")]
)
def test_a_difference_beyond_the_digits_is_none(value, expected):
    """And has its sign."""
    assert expected == wording.difference(value, NEARNESS)


@pytest.mark.parametrize(("value", "expected"), [(0.0123, "12.3 ms"), (1.0, "1 s"), (61.26, "61.3 s")])
def test_a_short_time_has_its_unit(value, expected):
    """Three digits."""
    assert expected == wording.seconds(value)


@pytest.mark.parametrize(
    ("said", "level"), [("reduced: a process of its own", "reduced"), ("strict", "strict"), ("", "unknown")]
)
def test_the_isolation_level_is_the_first_word(said, level):
    """What follows says what it promises."""
    assert level == wording.level(said)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "nearness 6.5 (+1.5 to the seed)"),
        ({"gain": 0.0}, "nearness 6.5 (the seed's)"),
        ({"gain": None}, "nearness 6.5"),
        ({"standard_error": 0.25, "measurements": 4}, "nearness 6.5 +- 0.25 of 4 measurements (+1.5 to the seed)"),
        ({"standard_error": 0.0}, "nearness 6.5 (+1.5 to the seed)"),
    ],
)
def test_a_score_is_told_with_its_error_and_its_gain(fields, expected):
    """An exact one has no error."""
    assert expected == wording.score(best(**fields), NEARNESS)


def test_the_nearest_anchors_are_told_with_who_and_when():
    """One per line."""
    gaps = report.anchor_gaps(number_task(), 6.5)
    assert wording.anchors(gaps, NEARNESS) == "+3.5 to Early (3)\n-1.5 to Later 2025 (8)"


@pytest.mark.parametrize(
    ("gap", "told"),
    [(-0.25, "-0.25 (better) to EoH (1.5)"), (0.25, "+0.25 (worse) to EoH (1.5)"), (0.0, "+0 to EoH (1.5)")],
)
def test_where_smaller_is_better_a_sign_has_a_word(gap, told):
    """An equal value needs none."""
    anchor = report.AnchorGap(1.5, "EoH", None, "", gap, gap <= 0.0)
    assert wording.anchors([anchor], Fitness("excess", "min")) == told


def test_outcomes_leave_out_what_did_not_happen():
    """Counts have thousands separators."""
    assert wording.outcomes({"ok": 1990, "crashed": 1, "wrong": 0}) == "ok 1,990, crashed 1"
    assert wording.outcomes({}) == "none yet"


def test_an_operators_yield_is_told_with_its_share():
    """Screened proposals are told where there are any."""
    lines = [report.Yield("tune", 5, 4, 2), report.Yield("idle", 2, 2, 0)]
    assert (
        wording.yields(lines)
        == "tune: 4 evaluated, 50% better than their parents, 1 screened\nidle: 2 evaluated, 0% better than their parents"
    )
    assert wording.yields([]) == "none yet"


@pytest.mark.parametrize(
    ("searched", "gains", "lost"),
    [
        (1.5, (1.4, 0.8), ""),
        (
            1.5,
            (1.4, 0.2),
            "; held-out cases keep 53% of the gain on average, but less than half of it is left on 1 of 2: n=1 (13%)",
        ),
        (
            1.5,
            (2.0, 2.0, 2.0, 0.0, -0.1),
            "; held-out cases keep 59% of the gain on average, but less than half of it is left on 2 of 5: n=3 (equal to the seed); n=4 (worse than the seed)",
        ),
        (1.5, (0.05, 0.2), "; but most of the gain is gone on held-out cases: 8% of it is left on average"),
        (-1.5, (-0.05, -0.2), "; but most of the gain is gone on held-out cases: 8% of it is left on average"),
        (-1.5, (-0.8, -1.2), ""),
        (
            1.5,
            (0.0, -0.1),
            "; but all of the gain is gone on held-out cases: on average the program is no better than the seed there",
        ),
        (0.0, (0.0,), ""),
    ],
)
def test_a_gain_that_is_gone_on_held_out_cases_is_told(searched, gains, lost):
    """Beside the promotion, which asks for no loss alone; in a task that minimises a gain is negative."""
    cases = tuple(
        report.CaseScore(f"n={place}", "c/9", "ok", 5.0 + gain, 5.0, True) for place, gain in enumerate(gains)
    )
    fitness = Fitness("nearness", "min" if searched < 0 else "max", 4)
    won = best(fitness=5.0 + searched, gain=searched, promoted=True, cases=cases)
    told = wording.held_out(won, [case.case for case in cases], fitness)
    assert told.splitlines()[-1] == f"promoted: no worse than the seed on any of them{lost}"


def test_a_held_out_case_on_which_the_program_failed_says_how():
    """It keeps nothing."""
    cases = (
        report.CaseScore("long", "c/9", "ok", 7.0, 5.0, True),
        report.CaseScore("short", "c/9", "timed_out", None, 5.0, False),
    )
    won = best(fitness=6.0, gain=1.0, cases=cases)
    told = wording.kept(what_is_kept(won, ["long", "short"], Fitness("nearness", "max", 4)))
    assert told == (
        "held-out cases keep 50% of the gain on average, but less than half of it is left on 1 of 2: short (timed_out)"
    )


@pytest.mark.parametrize(
    ("part", "whole", "told"),
    [(1, 3, "33%"), (1, 1000, "less than 1%"), (0, 1000, "0%"), (0, 0, "-"), (0.2, 1.0, "20%")],
)
def test_a_share_that_is_not_nothing_is_not_told_as_nothing(part, whole, told):
    assert wording.share(part, whole) == told
