"""Which folders of a machine belong to one user or to everybody: nothing like that is ever opened to a candidate as a whole.

Standard library only, for a task's own Python needs this too. Invariant: no file is opened here, and nothing is asked but where homes are."""

import os
from collections.abc import Collection
from pathlib import Path

_ROOT = Path("/")
_OF_HOMES = (_ROOT / "home", _ROOT / "Users")
_NAMES = [
    "dev",
    "etc",
    "media",
    "mnt",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "var",
    "var/lib",
    "var/log",
    "var/tmp",
    "Volumes",
]
_EVERYBODYS = frozenset({_ROOT, *_OF_HOMES, *(_ROOT / name for name in _NAMES)})


def home_folders() -> frozenset[Path]:
    """Where homes lie, as far as that can be known: this user's own, root's, and the folders that hold the others'."""
    own = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 the path's own method raises where there is no home
    return frozenset({own, _ROOT / "root", *_OF_HOMES} - {_ROOT})


def is_shared(place: Path) -> bool:
    """Whether a real path is a home, holds one, or is a folder that the whole system shares."""
    if place in _EVERYBODYS or place.parent in _OF_HOMES:
        return True
    return any(is_below(home, {place}) for home in home_folders())


def is_below(place: Path, folders: Collection[Path]) -> bool:
    """Whether `place` is one of `folders`, or lies in one, by the names alone."""
    return place in folders or any(parent in folders for parent in place.parents)


def outermost(places: Collection[Path]) -> set[Path]:
    """`places` without those that lie in another of them."""
    return {place for place in places if not any(parent in places for parent in place.parents)}
