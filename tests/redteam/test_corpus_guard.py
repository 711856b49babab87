"""What a hostile program asks before it does anything dangerous."""

import hashlib
import os
import resource
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.redteam.guard import boxed, learnt, tried
from tests.redteam.host import Host

pytestmark = pytest.mark.integration

_WORD = "evolve-canary-0123456789abcdef0123456789abcdef"
_LIMITS = {resource.RLIMIT_DATA: 1 << 30, resource.RLIMIT_FSIZE: 1 << 20, resource.RLIMIT_NPROC: 64}
_YES, _NO = 3, 4


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, Any]]:
    """What a program is told of a host."""
    with Host() as host:
        yield {name: getattr(host.told, name) for name in host.told.__slots__}


def limited(call: Callable[[], bool]) -> bool:
    """What a call says in a process with every limit that a box has."""
    pid = os.fork()
    if pid == 0:
        try:
            for which in (resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
                resource.setrlimit(which, (_LIMITS[which], _LIMITS[which]))
            os._exit(_YES if call() else _NO)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (_YES, _NO)
    return code == _YES


def test_a_process_of_the_host_is_not_boxed(told: dict[str, Any]) -> None:
    """Nor does it become so by limits alone."""
    assert (boxed(told), limited(lambda: boxed(told))) == (False, False)


@pytest.mark.parametrize("other", [{"uid": os.getuid() + 1}, {"namespace": "pid:[1]"}], ids=["user", "namespace"])
def test_apart_and_limited_is_boxed(told: dict[str, Any], other: dict[str, Any]) -> None:
    """As another user, or in another namespace of processes; without limits it is not."""
    if "namespace" in other and not told["namespace"]:
        pytest.skip("this system has no namespaces of processes")
    assert (boxed({**told, **other}), limited(lambda: boxed({**told, **other}))) == (False, True)


def test_processes_that_are_gone_are_no_sign_of_a_box(told: dict[str, Any]) -> None:
    """They may have ended."""
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    assert not limited(lambda: boxed({**told, "namespace": "", "sibling": gone, "engine": gone}))


@pytest.mark.parametrize(
    ("found", "known"),
    [
        (f"key={_WORD}\n", True),
        (f"x{_WORD}x".encode(), True),
        (_WORD[:-1], False),
        (_WORD.replace("0", "1"), False),
        ("", False),
    ],
)
def test_the_word_is_known_where_it_stands(found: bytes | str, known: bool) -> None:
    """By its hash alone: no program is told the word."""
    assert learnt({"word": hashlib.sha256(_WORD.encode()).hexdigest()}, found) == known


def test_an_attempt_says_what_it_has_achieved() -> None:
    """Nothing, where the system refuses."""
    assert tried("opened", os.close, os.open(os.devnull, os.O_RDONLY)) == ["opened"]
    assert tried("opened", os.close, 1_000_000) == []
