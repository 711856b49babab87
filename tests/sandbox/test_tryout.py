"""Real candidates in a real box."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evolve.sandbox import tryout
from evolve.sandbox.means import PLAIN, Means
from evolve.sandbox.session import Session
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.tryout import Bait

READ = "a candidate could read a file of the host's"
WRITE = "a candidate could write a file of the host's"
CONNECT = "a candidate could connect to a server on this machine"
SIGNAL = "a candidate could signal a process of the host's"


class Lenient:
    """A box that lets some things through."""

    def __init__(self, lets: str = "", answer: object = 42) -> None:
        self.lets, self.answer = lets, answer

    @contextmanager
    def open(self, program: object, entry: str, seconds: float) -> Iterator["Lenient"]:
        """A session."""
        yield self

    def call(self, function: str, *arguments: object) -> object:
        """What a candidate achieves."""
        if function == "answer":
            return self.answer
        if function != self.lets:
            raise SessionFailed(Status.ERROR, "denied")
        place = str(arguments[0])
        if function == "write":
            Path(place).write_text("written")
        return Path(place).read_text() if function == "read" else "done"


@pytest.fixture
def bait(tmp_path: Path) -> Bait:
    """What the candidates are told of."""
    (tmp_path / "secret").write_text("word")
    (tmp_path / "other").touch()
    return Bait(tmp_path / "secret", "word", tmp_path / "other", 1, os.getpid(), "")


@pytest.mark.parametrize(
    ("lets", "breach"), [("read", READ), ("write", WRITE), ("connect", CONNECT), ("signal", SIGNAL), ("", "")]
)
def test_whatever_gets_through_is_named(bait: Bait, lets: str, breach: str) -> None:
    """The first of them."""
    assert tryout._first_failure(Lenient(lets), bait, hostile=True) == breach  # type: ignore[arg-type]


def test_where_nothing_is_promised_only_the_answer_counts(bait: Bait) -> None:
    """It must be right."""
    assert tryout._first_failure(Lenient("read"), bait, hostile=False) == ""  # type: ignore[arg-type]
    failed = tryout._first_failure(Lenient("", 41), bait, hostile=False)  # type: ignore[arg-type]
    assert failed == "a harmless candidate was to answer 42, and answered 41"


def test_the_plain_box_answers_and_leaves_nothing() -> None:
    """On this machine."""
    before = set(Path(tempfile.gettempdir()).glob("evolve-probe-*"))
    assert tryout.failure(PLAIN) == ""
    assert set(Path(tempfile.gettempdir()).glob("evolve-probe-*")) == before


def test_an_interpreter_that_there_is_not_is_a_failure() -> None:
    """With the box's own words."""
    assert tryout.failure(PLAIN, "/nowhere/python").startswith("the box does not start: no candidate process")


def test_a_plain_box_that_claims_to_be_strict_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the claim that counts."""
    plain = tryout.Box
    monkeypatch.setattr(tryout, "Box", lambda limits, python, means: plain(limits, python))
    assert tryout.failure(Means(namespaces=True, landlock=7, seccomp=True)) == READ


def test_the_candidates_do_what_they_are_for() -> None:
    """Without a box that holds them, each gets through: so that the check can fail."""
    with tryout.closing(tryout.Box(tryout.Limits())) as box, tryout._laid_out() as bait:

        def tried(function: str, *arguments: object) -> object:
            with tryout._session(box) as session:
                assert isinstance(session, Session)
                return tryout._tried(session, function, *arguments)

        found = [tried("read", str(bait.secret)), tried("connect", bait.port)]
        if bait.namespace:
            found.append(tried("signal", bait.pid, bait.namespace))
        tried("write", str(bait.other))
        assert (found, bait.other.read_text()) == ([bait.word, "connected", "may signal"][: len(found)], "written")
