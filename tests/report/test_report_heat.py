"""The archive over two axes."""

from pathlib import Path

import pytest

from evolve import report
from evolve.campaign import Campaign
from evolve.report import AxisLine
from evolve.types import Axis, ConfigError
from tests.written import Written, number_task, short_campaign

AXES = (Axis("size", 0, 10, 5), Axis("depth", 0, 4, 2), Axis("width", 0, 1, 2))


def placed(home: Path) -> Campaign:
    """Three axes; 2 and 3 differ in the third alone, and 4 is beyond the border of the first."""
    written = Written(home, number_task(axes=AXES))
    written.seed(5.0, descriptors={"size": 5.0, "depth": 1.0, "width": 0.0})
    written.proposal(6.0, descriptors={"size": 1.0, "depth": 3.0, "width": 0.2})
    written.proposal(7.0, descriptors={"size": 1.5, "depth": 3.5, "width": 0.9})
    written.proposal(4.0, descriptors={"size": 99.0, "depth": 0.0, "width": 0.0})
    return written.campaign


def test_each_pair_of_bins_has_its_best(tmp_path: Path) -> None:
    """Of all that differ elsewhere, and how many these are."""
    with placed(tmp_path) as campaign:
        heat = report.heat(campaign)
    assert (heat.x, heat.y) == (AxisLine("size", 0, 10, 5), AxisLine("depth", 0, 4, 2))
    assert [(one.x_bin, one.y_bin, one.record, one.fitness, one.elites) for one in heat.cells] == [
        (0, 1, 3, 7.0, 2),
        (2, 0, 1, 5.0, 1),
        (4, 0, 4, 4.0, 1),
    ]
    assert {(one.isolation, one.trust) for one in heat.cells} == {("reduced", "witnessed")}


def test_any_two_axes_and_one_island(tmp_path: Path) -> None:
    """The second is another one than the first, where it is not named."""
    with placed(tmp_path) as campaign:
        assert [(one.x_bin, one.y_bin, one.record) for one in report.heat(campaign, "width", "depth").cells] == [
            (0, 0, 1),
            (0, 1, 2),
            (1, 1, 3),
        ]
        assert report.heat(campaign, "depth").y.name == "size"
        assert [one.record for one in report.heat(campaign, island=1).cells] == [1]


def test_an_archive_with_one_axis_is_one_row(tmp_path: Path) -> None:
    """Its second axis has no name."""
    with short_campaign(tmp_path) as campaign:
        heat = report.heat(campaign)
    assert heat.y == AxisLine("", 0.0, 1.0, 1)
    assert {one.y_bin for one in heat.cells} == {0}


def test_an_axis_or_island_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    """It says which there are."""
    with placed(tmp_path) as campaign:
        with pytest.raises(ConfigError, match=r"no axis 'dept'. Did you mean 'depth'"):
            report.heat(campaign, "dept")
        with pytest.raises(ConfigError, match=r"no island 4. Do: name one of 0 to 3"):
            report.heat(campaign, island=4)
