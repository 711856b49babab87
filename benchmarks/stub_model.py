"""A model as cheap as can be, as a process of its own: it answers each chat completion after a given latency with an edit that applies.

The program that it edits has one line `STEP = 1000000000`, with ten digits: the last such line of a request is the parent's, and the answer
is a SEARCH/REPLACE block that gives it a number that was never given before. Invariant: it listens on 127.0.0.1 alone, all its answers are of one
length, and it ends with the process that started it."""

import argparse
import asyncio
import itertools
import json
import os
import sys
from collections.abc import Iterator

LINE = b"STEP = "
FIRST = 1_000_000_000
"""The seed's number; answers count on from here, and have as many digits."""
_DIGITS = len(str(FIRST))
_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
_BLOCK = "Hypothesis: another step is better.\n\n<<<<<<< SEARCH\nSTEP = {old}\n=======\nSTEP = {new}\n>>>>>>> REPLACE\n"


def _whole(body: bytes) -> bytes:
    """An HTTP answer with this body."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _completion() -> tuple[bytes, bytes, bytes]:
    """What stands before, between and behind the two numbers of an answer."""
    text = _BLOCK.format(old="@" * _DIGITS, new="@" * _DIGITS)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 2000, "completion_tokens": 50, "total_tokens": 2050}
    body = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [choice],
        "usage": usage,
    }
    first, between, last = _whole(json.dumps(body).encode()).split(b"@" * _DIGITS)
    return first, between, last


_BEFORE, _BETWEEN, _BEHIND = _completion()
_MODELS = _whole(json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}).encode())


def answer(request: bytes, number: int) -> bytes:
    """The answer to a request, with `number` as the new step; a request without a program (a check) gets one for the seed."""
    at = request.rfind(LINE)
    old = request[at + len(LINE) : at + len(LINE) + _DIGITS] if at >= 0 else b"%d" % FIRST
    return b"%b%b%b%d%b" % (_BEFORE, old, _BETWEEN, number, _BEHIND)


class Connection(asyncio.Protocol):
    """One connection that is kept alive; its requests come one after another."""

    def __init__(self, loop: asyncio.AbstractEventLoop, latency: float, numbers: Iterator[int]) -> None:
        self._loop = loop
        self._latency = latency
        self._numbers = numbers
        self._parts: list[bytes] = []
        self._missing: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Collects a request, and plans its answer when it is whole."""
        self._parts.append(data)
        if self._missing is None:
            self._missing = _missing(b"".join(self._parts))
        else:
            self._missing -= len(data)
        if self._missing == 0:
            request, self._parts, self._missing = b"".join(self._parts), [], None
            reply = _MODELS if request.startswith(b"GET") else answer(request, next(self._numbers))
            self._loop.call_later(self._latency, self._transport.write, reply)


def _missing(begun: bytes) -> int | None:
    """Bytes of a request that are still to come; None where its head is not whole."""
    end = begun.find(_END)
    if end < 0:
        return None
    head = begun[:end].lower()
    at = head.find(_LENGTH)
    length = int(head[at + len(_LENGTH) :].partition(b"\r\n")[0]) if at >= 0 else 0
    return end + len(_END) + length - len(begun)


async def serve(latency: float) -> None:
    """Prints the port, and answers until standard input ends."""
    loop, numbers = asyncio.get_running_loop(), itertools.count(FIRST + 1)
    server = await loop.create_server(lambda: Connection(loop, latency, numbers), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = loop.create_future()
    loop.add_reader(
        sys.stdin.fileno(), lambda: os.read(sys.stdin.fileno(), 1) or ended.done() or ended.set_result(None)
    )
    await ended


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds from a request to its answer")
    asyncio.run(serve(parser.parse_args().latency))
