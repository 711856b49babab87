"""A loopback server that speaks the OpenAI-compatible protocol, and fails as its script says: one step for each completion that is asked.

As a fixture: `with FaultServer([failure(503), OK]) as server: ...  server.url ... server.count`. As a program, which other processes may
kill and ask for its counts: `python -m tests.models.fault_server --steps '[{"status": 503}]' --delay 0.5` prints its URL on a line, and
answers `GET /counts`.

Invariant: it listens on 127.0.0.1 alone, plays each step once and in order, then its last words for ever, and counts what it was asked."""

import argparse
import json
import socket
import ssl
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

MODEL = "stub-1"
KEY = "sk-test-0123456789abcdef"
PROMPT_TOKENS = 11
COMPLETION_TOKENS = 7
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Step:
    """How one request is answered. `body`, where given, is sent as it is; else it is a chat completion with `text` in each of `choices`
    choices (-1: as many as were asked for).

    `delay`: seconds before the first byte. `stall_at` and `cut_at`: after so many bytes of the body nothing more is sent, or the
    connection is closed; -1 stands for before the headers, None for never. `together`: nobody is answered before so many wait. `wants_no`: refuse requests with these fields, and take others."""

    text: str = "hello"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | bytes | None = None
    choices: int = -1
    usage: bool = True
    message: dict[str, Any] = field(default_factory=dict)
    finish: str = "stop"
    delay: float = 0.0
    together: int = 0
    stall_at: int | None = None
    cut_at: int | None = None
    wants_no: tuple[str, ...] = ()


OK = Step()
HANG = Step(stall_at=-1)
HANG_MIDWAY = Step(stall_at=40)
DROP = Step(cut_at=-1)
CUT = Step(cut_at=40)
HTML = Step(body="<html><body>Welcome to the proxy</body></html>", headers={"Content-Type": "text/html"})
TRUNCATED = Step(body='{"id": "x", "choices": [{"index": 0, "message": {"role": "assist')
NO_CHOICES = Step(choices=0)
NULL_CONTENT = Step(message={"content": None})
EMPTY = Step(text="")
HUGE = Step(text="spam " * 400_000)
NO_USAGE = Step(usage=False)


def failure(status: int, message: str = "it failed", code: str | None = None, **headers: str) -> Step:
    """An error as OpenAI words it; `retry_after="2"` becomes the header `Retry-After`."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Step(status=status, body=json.dumps({"error": error}), headers=named)


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int


class FaultServer:
    """Answers on threads of its own; `start` after `stop` listens on the same port again, as a server that was restarted does."""

    def __init__(
        self,
        steps: Sequence[Step] = (),
        last: Step = OK,
        models: Sequence[dict[str, Any]] | None = None,
        certificate: Path | None = None,
        *,
        lists: bool = True,
    ) -> None:
        """`lists`: whether it tells its models. `certificate`: a file with a certificate and its key, for https."""
        self._tls = None if certificate is None else ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if self._tls is not None and certificate is not None:
            self._tls.load_cert_chain(certificate)
        self._steps = list(steps)
        self._last = last
        self._lists = lists
        self._models = [{"id": MODEL, "object": "model"}] if models is None else list(models)
        self._lock = threading.Lock()
        self._port = 0
        self._stopping = threading.Event()
        self._listener: socket.socket | None = None
        self._open: dict[int, tuple[socket.socket, threading.Thread]] = {}
        self._connections = 0
        self._barrier = threading.Barrier(1)
        self._accepting: threading.Thread | None = None
        self.asked: list[Asked] = []
        """The completions and embeddings that it was asked for, in order."""
        self.peeked: list[str] = []
        """The paths that were only looked at."""

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self._port}/v1"

    @property
    def count(self) -> int:
        """How many completions and embeddings it was asked for."""
        with self._lock:
            return len(self.asked)

    @property
    def connections(self) -> int:
        """How many connections it has accepted."""
        return self._connections

    @property
    def connected(self) -> int:
        """How many connections are open."""
        with self._lock:
            return len(self._open)

    def __enter__(self) -> "FaultServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer_with(self, steps: Sequence[Step], last: Step = OK) -> None:
        """Plays these steps from now on."""
        with self._lock:
            self._steps, self._last = list(steps), last

    def start(self) -> None:
        """Listens."""
        self._stopping.clear()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self._port))
        listener.listen(256)
        self._listener, self._port = listener, listener.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._accepting.start()

    def stop(self) -> None:
        """Closes the port and every connection."""
        self._stopping.set()
        assert self._listener is not None
        assert self._accepting is not None
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        with self._lock:
            serving = list(self._open.values())
        for connection, thread in serving:
            _shut(connection)
            thread.join()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections += 1
            thread = threading.Thread(target=self._serve, args=(connection, self._connections), daemon=True)
            with self._lock:
                self._open[self._connections] = (connection, thread)
            thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
                with self._lock:
                    self._open[number] = (connection, threading.current_thread())
            with connection, connection.makefile("rb") as reader:
                while (asked := _read_request(reader, number)) is not None and self._answer(connection, asked):
                    pass
        except (OSError, ValueError):
            pass  # the client went away, or the server is stopped, or what came was no request
        finally:
            with self._lock:
                self._open.pop(number, None)

    def _answer(self, connection: socket.socket, asked: Asked) -> bool:
        """Whether the connection stays open."""
        if asked.path == "/counts":
            return _send(
                connection, Step(body=json.dumps({"requests": self.count, "connections": self._connections})), {}
            )
        if asked.path.endswith("/models"):
            self.peeked.append(asked.path)
            listed = Step(body=json.dumps({"object": "list", "data": self._models}))
            return _send(connection, listed if self._lists else failure(404), {})
        with self._lock:
            self.asked.append(asked)
            step = self._steps.pop(0) if self._steps else self._last
        refused = [name for name in step.wants_no if name in asked.body]
        if refused:
            detail = [{"type": "extra_forbidden", "loc": ["body", refused[0]], "msg": "Extra inputs are not permitted"}]
            step = Step(status=422, body=json.dumps({"detail": detail}))
        if step.delay:
            self._stopping.wait(step.delay)
        if step.together:
            self._meeting(step.together).wait(timeout=60)
        return self._play(connection, step, asked)

    def _meeting(self, parties: int) -> threading.Barrier:
        with self._lock:
            if self._barrier.parties != parties:
                self._barrier = threading.Barrier(parties)
            return self._barrier

    def _play(self, connection: socket.socket, step: Step, asked: Asked) -> bool:
        if step.stall_at == -1 or step.cut_at == -1:
            return self._end(connection, step)
        _send(connection, step, asked.body, asked.path)
        return (step.stall_at is None and step.cut_at is None) or self._end(connection, step)

    def _end(self, connection: socket.socket, step: Step) -> bool:
        """Waits for the client to give up where the step stalls."""
        if step.stall_at is not None:
            while connection.recv(_CHUNK):
                pass
        return False


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the client was faster


def _read_request(reader: Any, number: int) -> Asked | None:
    line = reader.readline().split()
    if len(line) != 3 or not line[2].startswith(b"HTTP/"):
        return None  # such as the greeting of a client that speaks TLS
    headers = {}
    while header := reader.readline().strip():
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    size = int(headers.get("content-length", 0))
    body = json.loads(reader.read(size)) if size else {}
    return Asked(line[1].decode(), headers, body, number)


def _send(connection: socket.socket, step: Step, body: dict[str, Any], path: str = "") -> bool:
    content = _content(step, body, path)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **step.headers}
    head = f"HTTP/1.1 {step.status} Said\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    ends = [limit for limit in (step.stall_at, step.cut_at) if limit is not None]
    connection.sendall(head.encode("latin-1") + b"\r\n" + content[: min(ends, default=len(content))])
    return True


def _content(step: Step, body: dict[str, Any], path: str) -> bytes:
    if step.body is not None:
        return step.body if isinstance(step.body, bytes) else step.body.encode()
    if path.endswith("/embeddings"):
        return json.dumps({"data": [{"embedding": [3.0, 4.0]}], "model": MODEL, "usage": {"prompt_tokens": 5}}).encode()
    count = step.choices if step.choices >= 0 else int(body.get("n") or 1)
    return json.dumps(_completion(step, count)).encode()


def _usage(step: Step, count: int) -> dict[str, Any]:
    counted = {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS * count,
        "prompt_tokens_details": {"cached_tokens": 3},
    }
    return {"usage": counted} if step.usage else {}


def _completion(step: Step, count: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": step.text, **step.message}
    choices = [{"index": index, "message": message, "finish_reason": step.finish} for index in range(count)]
    return {"id": "x", "object": "chat.completion", "model": MODEL, "choices": choices, **_usage(step, count)}


def steps_from(text: str) -> list[Step]:
    """Steps as JSON: a list of objects with the fields of `Step`."""
    return [Step(**{**asdict(OK), **given}) for given in json.loads(text)]


def main(arguments: Sequence[str]) -> None:
    """Serves until standard input ends, so that no server outlives who started it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", default="[]", help="JSON: a list of steps")
    parser.add_argument(
        "--text", default="hello", help="what it says when the steps are over; @FILE reads it from a file"
    )
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each of these answers takes")
    given = parser.parse_args(arguments)
    text = given.text
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    with FaultServer(steps_from(given.steps), replace(OK, text=text, delay=given.delay)) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1:])
