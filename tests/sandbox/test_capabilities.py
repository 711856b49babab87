"""A process gives up its capabilities in a fork; the kernel says what is left, and what it may still do."""

import ctypes
import os
import re
from pathlib import Path

import pytest

from evolve.sandbox import kernel
from evolve.sandbox.walls.confinement import drop_capabilities, empty_bounding
from tests.confined import become_ordinary, child, outcome

pytestmark = [pytest.mark.integration, pytest.mark.skipif(not kernel.LINUX, reason="capabilities are Linux's")]
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no capabilities to give up")
_NOTHING = {"effective": 0, "permitted": 0, "inheritable": 0, "bounding": 0, "ambient": 0}


def held() -> dict[str, int]:
    names = {
        "CapEff": "effective",
        "CapPrm": "permitted",
        "CapInh": "inheritable",
        "CapBnd": "bounding",
        "CapAmb": "ambient",
    }
    lines = re.findall(r"(Cap\w+):\s+([0-9a-f]+)", Path("/proc/self/status").read_text())
    return {names[name]: int(value, 16) for name, value in lines}


@ROOT
def test_root_drops_everything() -> None:
    def act() -> object:
        empty_bounding()
        drop_capabilities()
        return held()

    assert child(act) == _NOTHING


@ROOT
def test_root_without_capabilities_may_not_chroot() -> None:
    def act() -> object:
        before = outcome(os.chroot, "/")
        drop_capabilities()
        return [before, outcome(os.chroot, "/"), outcome(os.setuid, 12345)]

    assert child(act) == ["done", "EPERM", "EPERM"]


@ROOT
def test_the_bounding_set_is_emptied_once_for_all_forks() -> None:
    def act() -> object:
        emptied = empty_bounding()
        still = held()["effective"] != 0

        def candidate() -> object:
            become_ordinary()
            drop_capabilities()
            return held()

        return [emptied, still, child(candidate)]

    assert child(act) == [True, True, _NOTHING]


def test_an_ordinary_user_drops_what_there_is() -> None:
    """The bounding set is not theirs to empty, and what is in it they cannot get."""

    def act() -> object:
        become_ordinary()
        drop_capabilities()
        return [{**held(), "bounding": 0}, empty_bounding()]

    assert child(act) == [_NOTHING, False]


def test_the_root_of_a_user_namespace_drops_everything() -> None:
    def act() -> object:
        become_ordinary()
        try:
            kernel.unshare(kernel.CLONE_NEWUSER)
        except OSError:
            return "refused"
        had = held()["effective"] != 0
        empty_bounding()
        drop_capabilities()
        return [had, held()]

    found = child(act)
    if found == "refused":
        pytest.skip("this machine refuses user namespaces")
    assert found == [True, _NOTHING]


@ROOT
def test_an_ambient_capability_is_given_up() -> None:
    def act() -> object:
        chown = 0
        had = held()
        kernel.capset(_header(), _filled(had["effective"], had["permitted"], 1 << chown))
        kernel.prctl(_PR_CAP_AMBIENT, _AMBIENT_RAISE, chown)
        before = held()["ambient"]
        drop_capabilities()
        return [before, held()["ambient"]]

    assert child(act) == [1, 0]


_PR_CAP_AMBIENT, _AMBIENT_RAISE = 47, 2


def _header() -> bytes:
    return (0x20080522).to_bytes(4, "little") + bytes(4)


def _filled(*sets: int) -> "ctypes.Array[ctypes.c_uint32]":
    halves = [each & 0xFFFFFFFF for each in sets] + [each >> 32 for each in sets]
    return (ctypes.c_uint32 * 6)(*halves)
