"""Facts about what a program is worth."""

from exported_here import Found

from evolve.types import Outcome


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
