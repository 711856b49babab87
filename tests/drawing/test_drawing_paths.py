"""Lines and bands as paths."""

from evolve.drawing import paths


def test_a_step_holds_its_height_until_the_next_one() -> None:
    assert paths.line([(0, 1), (5, 3)], step=True) == "M0.0 1.0L5.0 1.0L5.0 3.0"
    assert paths.line([(0, 1), (5, 3)], step=False) == "M0.0 1.0L5.0 3.0"


def test_a_band_goes_forth_above_and_back_below() -> None:
    assert paths.band([(0, 4), (9, 5)], [(0, 0), (9, 1)], step=False) == "M0.0 0.0L9.0 1.0L9.0 5.0L0.0 4.0Z"
    assert paths.band([], [], step=False) == ""


def test_of_many_points_the_peaks_are_kept() -> None:
    points = [(place / 100, 0.0) for place in range(5_000)]
    points[1234] = (12.34, 77.0)
    kept = paths.thinned(points)
    assert (12.34, 77.0) in kept
    assert points[0] == kept[0]
    assert points[-1] == kept[-1]
    assert len(kept) == 101
