"""What stands between an agent and the engine, in the agent's box: it starts the agent, and hands on what the agent asks over HTTP.

It runs there as a program of its own, with the standard library alone. The agent may do with it what it likes: `agent.py` checks all that it says."""

import contextlib
import http.server
import os
import queue
import secrets
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

FOLDER, EVALUATE = "work", "/evaluate"
_TAIL = 16_000
"""Bytes of what the agent printed that are kept, from its end."""
_LARGEST, _MOST = 256 << 10, 1 << 20
"""Bytes of one file, and of all files together, that are handed over; as JSON they may be six times as many."""
_LOOK_SECONDS = 1.0
"""Seconds after which the engine is told that the agent works on."""
Answer = tuple[int, str, str]
"""Status, type and text of an answer."""


class Relay:
    """The state of the one agent. `paths` are the program's files, `has_more` whether others are handed over."""

    def __init__(self, paths: Sequence[str], *, has_more: bool) -> None:
        self.secret = secrets.token_hex(8)
        self._paths = paths
        self._has_more = has_more
        self._told: queue.Queue[tuple[list[Any], queue.Queue[Answer]]] = queue.Queue()
        self._waiting: queue.Queue[Answer] = queue.Queue()
        """Where the answer to the request goes that was handed over last."""

    def ask(self, path: str, body: str) -> Answer:
        """Hands a request on, and waits for its answer; one to evaluate has the files as they are now."""
        answer: queue.Queue[Answer] = queue.Queue(1)
        files = self.collect() if path == EVALUATE else {}
        self._told.put((["asked", path, body, files], answer))
        return answer.get()

    def answer(self, answer: Answer) -> None:
        """Answers the request that was handed over."""
        self._waiting.put(answer)

    def wait(self) -> list[Any]:
        """Returns the next request, `["asked", path, body, files]`, the agent's end, `["ended", exit code, whether its time was up, what it printed, files]`,
        or after a second without either `["works"]`."""
        try:
            told, self._waiting = self._told.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            return ["works"]
        return [*told, self.collect()] if told[0] == "ended" else told

    def watch(self, agent: "subprocess.Popen[bytes]", seconds: float) -> None:
        """Waits for the end of the agent, and ends it when its time is up. What it has asked and nobody has answered is dropped."""
        printed = bytearray()
        reader = threading.Thread(target=_read, args=(agent.stdout, printed), name="agent-output", daemon=True)
        reader.start()
        late = False
        try:
            agent.wait(seconds)
        except subprocess.TimeoutExpired:
            late = True
        with contextlib.suppress(OSError):
            os.killpg(agent.pid, signal.SIGKILL)
        code = agent.wait()
        # What the agent left behind may hold its output open.
        reader.join(1.0)
        with contextlib.suppress(queue.Empty):
            while True:
                self._told.get_nowait()
        self._told.put((["ended", code, late, bytes(printed).decode("utf-8", "replace")], queue.Queue()))

    def collect(self) -> dict[str, str]:
        """Returns texts of files by their paths, those of the program first, without those that are too large, no text, links, or gone."""
        found: dict[str, str] = {}
        total = 0
        for path in (*self._paths, *(_list_others(self._paths) if self._has_more else ())):
            file = Path(FOLDER, path)
            with contextlib.suppress(OSError, ValueError):
                size = _MOST if file.is_symlink() or not file.is_file() else file.stat().st_size
                if size <= _LARGEST and total + size <= _MOST:
                    found[path] = file.read_bytes().decode("utf-8")
                    total += size
        return found


def _list_others(known: Sequence[str]) -> Iterator[str]:
    for place, folders, names in os.walk(FOLDER):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for name in sorted(names):
            path = Path(place, name).relative_to(FOLDER).as_posix()
            if path not in known and path.isprintable():
                yield path


def _read(stream: IO[bytes], printed: bytearray) -> None:
    while chunk := os.read(stream.fileno(), 1 << 16):
        printed += chunk
        del printed[:-_TAIL]


class Handler(http.server.BaseHTTPRequestHandler):
    """Hands on what begins with the relay's secret."""

    relay: Relay

    def do_GET(self) -> None:
        """Answers a request without a body."""
        self.do_POST()

    def do_POST(self) -> None:
        """Answers a request."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        _, secret, path = [*self.path.partition("?")[0].rstrip("/").split("/", 2), "", ""][:3]
        known = secret == self.relay.secret
        status, kind, text = self.relay.ask(f"/{path}", body) if known else (404, "text/plain", "")
        data = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *words: object) -> None:
        """Says nothing: what is printed is the agent's."""


_relays: list[Relay] = []


def begin(
    argv: Sequence[str],
    files: Mapping[str, str],
    paths: Sequence[str],
    has_more: bool,
    variables: Mapping[str, str],
    seconds: float,
) -> list[Any]:
    """Starts the agent in a folder with the files, for so many seconds; `{url}` in its variables is where it asks. Returns what `wait` returns, or `["not started", reason]`."""
    for path, text in files.items():
        place = Path(FOLDER, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    relay = Relay(paths, has_more=has_more)
    _relays.append(relay)
    handler = type("Bound", (Handler,), {"relay": relay})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, name="agent-server", daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/{relay.secret}"
    told = {name: value.replace("{url}", url) for name, value in variables.items()}
    try:
        agent = subprocess.Popen(
            argv,
            cwd=FOLDER,
            env={**os.environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return ["not started", getattr(error, "strerror", None) or str(error)]
    threading.Thread(target=relay.watch, args=(agent, seconds), name="agent-watch", daemon=True).start()
    return relay.wait()


def go_on(status: int, kind: str, text: str) -> list[Any]:
    """Answers the request that was handed over; returns what comes next."""
    _relays[0].answer((status, kind, text))
    return wait()


def wait() -> list[Any]:
    """Returns what comes next, see `Relay.wait`."""
    return _relays[0].wait()
