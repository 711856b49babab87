"""As if a machine had less than it has."""

import click
import pytest

from evolve.cli.pretending import lessened
from evolve.sandbox.means import PLAIN, Means

ALL = Means(namespaces=True, landlock=7, seccomp=True, cgroup="v1")


@pytest.mark.parametrize(
    ("pretended", "means"),
    [
        ((), ALL),
        (("landlock=7",), ALL),
        (("landlock=2",), Means(namespaces=True, landlock=2, seccomp=True, cgroup="v1")),
        (("landlock=0", "cgroup=no"), Means(namespaces=True, seccomp=True)),
        (("namespaces=no",), Means(landlock=7, seccomp=True, cgroup="v1")),
        (("namespaces=no", "landlock=0"), PLAIN),
    ],
)
def test_what_is_named_is_taken_away(pretended: tuple[str, ...], means: Means) -> None:
    """And with it what cannot be without: then the box is the plain one."""
    assert lessened(ALL, pretended) == means


def test_where_nothing_is_pretended_the_means_are_what_they_are() -> None:
    """Whatever their level."""
    assert lessened(Means(seccomp=True), ()) == Means(seccomp=True)


@pytest.mark.parametrize(
    ("pretended", "words"),
    [
        ("landlock=8", "this machine has version 7 of Landlock, and not more"),
        ("landlock=new", "--pretend landlock=new: not one of landlock=VERSION, namespaces=no, cgroup=no"),
        ("seccomp=no", "not one of"),
        ("cgroup", "not one of"),
    ],
)
def test_what_cannot_be_taken_away_is_an_error(pretended: str, words: str) -> None:
    """A machine is not given what it lacks."""
    with pytest.raises(click.UsageError, match=words):
        lessened(ALL, (pretended,))
