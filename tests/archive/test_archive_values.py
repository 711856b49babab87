"""Facts about the archive's settings."""

import pytest

from evolve.archive import ArchiveSettings


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("islands", 0, 1), ("capacity", 0, 1), ("migrate_every", -1, 0), ("migrants", 0, 1), ("reset_every", -1, 0)],
)
def test_a_count_below_its_least_is_refused(name: str, value: int, least: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least {least}, got {value}"):
        ArchiveSettings(**{name: value})
