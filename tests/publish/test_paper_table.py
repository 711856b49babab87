"""The LaTeX table of a paper."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.publish.paper.table import proven_text, table
from evolve.publish.result import result
from tests.publish.paper_campaigns import hostile_campaign, proven_campaign
from tests.written import Written, number_task


@given(st.floats(-1e6, 1e6), st.sampled_from(["max", "min"]))
def test_a_proven_value_is_never_written_better_than_it_is(value: float, direction: str) -> None:
    """What stands in the table is proven, too; and it is no more than a hair worse."""
    written = Fraction(proven_text(value, direction))
    better = written <= Fraction(value) if direction == "max" else written >= Fraction(value)
    assert better
    assert abs(written - Fraction(value)) < Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("value", "direction", "expected"),
    [
        (0.1, "max", "0.1"),
        (0.1, "min", "0.100000000000001"),
        (2.6359830849176076, "max", "2.635983084917607"),
        (7.0, "max", "7"),
        (-0.5, "max", "-0.5"),
        (1e300, "max", f"{int(1e300)}"),
    ],
)
def test_proven_values_in_decimals(value: float, direction: str, expected: str) -> None:
    """Cut to 15, towards the worse side."""
    assert proven_text(value, direction) == expected


def test_the_table_of_a_proven_value(tmp_path: Path) -> None:
    """The value, the seed, and the anchors, the hardest to reach last."""
    with proven_campaign(tmp_path).campaign as campaign:
        assert table(campaign, result(campaign, 2)) == (
            "% number/2 of task number. Needs no package.\n"
            "\\begin{tabular}{lll}\n"
            "\\hline\n"
            "number & nearness (larger is better) & by \\\\\n"
            "\\hline\n"
            "This work & 7 & proven lower bound; judged at isolation reduced \\\\\n"
            "The program that the search began with & 5 & 1 measurement \\\\\n"
            "Early & 3.0 &  \\\\\n"
            "Later (2025) & 8.0 & arXiv:1 \\\\  % \\cite{later2025}\n"
            "\\hline\n"
            "\\end{tabular}\n"
        )


def test_a_noisy_value_has_its_interval(tmp_path: Path) -> None:
    """And says of how many measurements."""
    written = Written(tmp_path, number_task(deterministic=False))
    written.seed(5.0, standard_error=0.1)
    with written.campaign as campaign:
        row = table(campaign, result(campaign, 1)).splitlines()[5]
    assert row.startswith("This work & 5 & measured, 1 measurement, 95 \\% interval 4.")
    assert row.endswith("; judged at isolation reduced \\\\")


def test_every_row_ends_where_it_should(tmp_path: Path) -> None:
    """Whatever the names are: three cells and no more."""
    with hostile_campaign(tmp_path).campaign as campaign:
        rows = [line for line in table(campaign, result(campaign, 2)).splitlines() if " & " in line]
    assert len(rows) == 5
    assert [row.replace("\\&", "").count("&") for row in rows] == [2] * 5
    assert [row.partition("  % ")[0].endswith(" \\\\") for row in rows] == [True] * 5
