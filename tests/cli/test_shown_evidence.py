"""What `evolve program show` says of held-out cases."""

from tests.plugins.evolve_view.reports import held_out_campaign


def test_a_held_out_case_is_told_once(call, home):
    """With its trust and isolation."""
    held_out_campaign(home, 2.0, 1.0).close()
    text = call("program", "show", "number/2").stdout
    assert (text.count("number/4"), text.count("number/6")) == (1, 1)
    assert "judged again" not in text
    assert "each [witnessed, isolation reduced]" in text


def test_a_promoted_program_is_said_to_lose_most_of_its_gain(call, home):
    """As at the end of a run."""
    held_out_campaign(home, 0.2, 0.2).close()
    told = "promoted: no worse than the seed on any held-out case; but most of the gain is gone on held-out cases: 10% of it is left on average"
    assert told in call("program", "show", "number/2").stdout


def test_a_promotion_that_holds_is_said_without_more(call, home):
    """At each case at least half of the gain is left."""
    held_out_campaign(home, 2.0, 1.0).close()
    assert "promoted: no worse than the seed on any held-out case\n" in call("program", "show", "number/2").stdout


def test_a_single_case_has_its_trust_beside_it(call, home):
    held_out_campaign(home, 1.0).close()
    (line,) = (line for line in call("program", "show", "number/2").stdout.splitlines() if "case 0" in line)
    assert line.endswith("case 0: 6 (+1 to the seed)  number/4  [witnessed, isolation reduced]")
