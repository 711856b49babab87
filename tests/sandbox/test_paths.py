"""Folders of one user or of everybody."""

from pathlib import Path

import pytest

from evolve.sandbox.machine.visible import home_folders, is_below, is_shared, outermost


@pytest.mark.parametrize(
    "place", ["/", "/tmp", "/home", "/home/ada", "/root", "/Users/ada", "/etc", "/srv/ada", "/srv"]
)
def test_homes_and_what_everybody_shares_are_known(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever this user's own is."""
    monkeypatch.setenv("HOME", "/srv/ada")
    assert is_shared(Path(place))


@pytest.mark.parametrize("place", ["/home/ada/env", "/tmp/env", "/opt/conda", "/root/.pyenv/versions/3.11.7/lib"])
def test_a_folder_in_one_of_them_is_no_such_folder(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment may lie in a home."""
    monkeypatch.setenv("HOME", "/home/ada")
    assert not is_shared(Path(place))


def test_a_home_that_is_the_root_makes_no_home_of_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in some containers."""
    monkeypatch.setenv("HOME", "/")
    assert Path("/") not in home_folders()


def test_outermost_leaves_out_what_lies_in_another() -> None:
    """By the parts of its name."""
    assert outermost({Path("/a"), Path("/a/b/c"), Path("/ab")}) == {Path("/a"), Path("/ab")}
    assert is_below(Path("/a/b"), {Path("/a")})
    assert is_below(Path("/a"), {Path("/a")})
    assert not is_below(Path("/ab"), {Path("/a")})
