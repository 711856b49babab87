"""From a task's limits and the machine's means to a jail."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import evolve
from evolve.sandbox import Means
from evolve.sandbox.jail import Jail
from evolve.sandbox.policy import jail_for
from evolve.types import Grants, Limits, SandboxError

STRICT = Means(namespaces=True, landlock=7, seccomp=True)
STANDARD = replace(STRICT, namespaces=False)


NONE = Grants()


def made(grants: Grants = NONE, means: Means = STRICT, user: int = -1, python: str = sys.executable) -> Jail:
    return jail_for("/home/of/a/slot", Limits(grants=grants), python, means, user)


def test_what_is_told_is_what_was_meant() -> None:
    """A jail crosses to the template whole."""
    jail = made(Grants(read=("/data",), threads=3, execute=False))
    assert Jail.heard(jail.told()) == jail


def test_the_engine_is_hidden() -> None:
    """With its tasks, wherever it lies."""
    engine = os.path.realpath(Path(evolve.__file__).parent)
    assert any(engine == place or engine.startswith(place + "/") for place in made().hidden)


@pytest.mark.parametrize("means", [Means(), Means(limits=False)])
def test_without_a_box_nothing_is_shown_or_hidden(means: Means) -> None:
    """The interpreter is not even asked, for a candidate sees what its user sees."""
    jail = made(means=means, python="/no/such/python")
    assert (jail.visible, jail.hidden, jail.listed) == ((), (), ())


def test_grants_arrive() -> None:
    """Each by its name."""
    jail = made(
        Grants(execute=False, memfd=True, shm=5, read=("/data",), threads=3, network="loopback", template=False)
    )
    assert (jail.execute, jail.memfd, jail.shm, jail.threads, jail.loopback, jail.template) == (
        False,
        True,
        5,
        3,
        True,
        False,
    )
    assert jail.readable == ("/data",)
    assert (jail.gpu, jail.nodes) == (False, ())


def test_loopback_needs_a_network_of_its_own() -> None:
    """That of the machine has the engine on it."""
    with pytest.raises(
        SandboxError, match=r"`loopback`, and here its network is the machine's.*Do: run where level strict"
    ):
        made(Grants(network="loopback"), STANDARD)


def test_an_interpreter_in_a_closed_folder_is_refused_where_candidates_are_another_user(tmp_path: Path) -> None:
    """And no tree of their own shows it to them."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.symlink_to(sys.executable)
    tmp_path.chmod(0o700)
    with pytest.raises(SandboxError, match=r"is closed to everybody but its owner.*Do: make the environment outside"):
        made(means=STANDARD, user=60_000, python=os.fspath(python))
