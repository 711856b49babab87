"""The stub that benchmarks ask in place of a model: what it answers is an edit that applies."""

import importlib.util
import itertools
import json
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("stub_model", Path(__file__).parents[1] / "benchmarks" / "stub_model.py")
assert _SPEC is not None
assert _SPEC.loader is not None
stub_model = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(stub_model)


class Loop:
    """A loop of events in which everything is due at once."""

    def call_later(self, seconds: float, call, *arguments) -> None:
        """Calls it."""
        call(*arguments)


class Wire:
    """The way back of a connection, as far as it is used."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Notes it."""
        self.written.append(data)


def request(*programs: str) -> bytes:
    """A request whose prompt quotes these programs."""
    body = json.dumps({"messages": [{"role": "user", "content": "\n\n".join(programs)}]}).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: stub\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def said(answer: bytes) -> str:
    """The text of an answer, whose length is what its head says."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert int(head.rpartition(b": ")[2]) == len(body)
    return json.loads(body)["choices"][0]["message"]["content"]


def test_the_answer_changes_the_last_program_of_the_prompt():
    """That is the parent; what stands before are other programs."""
    text = said(stub_model.answer(request("STEP = 1000000007\n", "STEP = 1000000009\n"), 1_000_000_123))
    assert text.endswith("<<<<<<< SEARCH\nSTEP = 1000000009\n=======\nSTEP = 1000000123\n>>>>>>> REPLACE\n")


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_requests_that_come_in_pieces_are_answered_one_by_one(size):
    """Each with a number of its own; a question for the models is answered without one."""
    wire, loop = Wire(), Loop()
    connection = stub_model.Connection(loop, 0.0, itertools.count(1_000_000_001))
    connection._transport = wire
    for whole in (request("STEP = 1000000000\n"), b"GET /v1/models HTTP/1.1\r\nHost: stub\r\n\r\n", request("")):
        for at in range(0, len(whole), size):
            connection.data_received(whole[at : at + size])
    first, models, last = wire.written
    assert "STEP = 1000000001" in said(first)
    assert b'"id": "stub"' in models
    assert "SEARCH\nSTEP = 1000000000\n=======\nSTEP = 1000000002" in said(last)
