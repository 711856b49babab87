"""What stands between an agent and the engine, in the agent's box: it starts the agent, and hands on what the agent asks over HTTP.

It runs there as a program of its own, with the standard library alone. The agent may do with it what it likes: `agent.py` checks all that it says."""

import contextlib
import http.server
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

FOLDER, EVALUATE = "work", "/evaluate"
NOT_STARTED = 256
"""Exit code that no command has."""
_TAIL = 16_000
"""Bytes of what the agent printed that are kept, from its end."""
_LARGEST, _MOST = 1 << 20, 4 << 20
"""Bytes of one file, and of all files together, that are handed over."""
_PATHS = 100
_LOOK_SECONDS = 1.0
"""Seconds after which the engine is told that the agent works on."""
_asked: "queue.Queue[tuple[list[Any], queue.Queue[tuple[int, str, str]]]]" = queue.Queue()
_answers: "list[queue.Queue[tuple[int, str, str]]]" = []
"""Where the answer to the request goes that was handed over last."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Hands each request on, and waits for its answer."""

    def do_GET(self) -> None:
        """Hands a request without a body on."""
        self.do_POST()

    def do_POST(self) -> None:
        """Hands a request on; one to evaluate has the files as they are now."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        if self.path == EVALUATE:
            body = json.dumps(collect()[0])
        answer: queue.Queue[tuple[int, str, str]] = queue.Queue(1)
        _asked.put((["asked", self.path, body], answer))
        status, kind, text = answer.get()
        data = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *words: object) -> None:
        """Says nothing: what is printed is the agent's."""


def begin(argv: Sequence[str], files: Mapping[str, str], variables: Mapping[str, str], seconds: float) -> list[Any]:
    """Starts the agent in a folder with the files, for so many seconds; `{url}` in its variables is where it asks. Returns what `wait` returns."""
    for path, text in files.items():
        place = Path(FOLDER, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", errors="surrogatepass")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    told = {name: value.replace("{url}", url) for name, value in variables.items()}
    threading.Thread(target=_run, args=(argv, told, seconds), daemon=True).start()
    return wait()


def go_on(status: int, kind: str, text: str) -> list[Any]:
    """Answers the request that was handed over; returns what comes next, as `wait` does."""
    _answers.pop().put((status, kind, text))
    return wait()


def wait() -> list[Any]:
    """Returns the next request, `["asked", path, body]`, the agent's end, `["ended", exit code, whether its time was up, what it printed, files,
    paths that were left out]`, or after a second without either `["works"]`."""
    try:
        told, answer = _asked.get(timeout=_LOOK_SECONDS)
    except queue.Empty:
        return ["works"]
    if told[0] == "ended":
        return [*told, *collect()]
    _answers.append(answer)
    return told


def _run(argv: Sequence[str], variables: Mapping[str, str], seconds: float) -> None:
    printed = bytearray()
    try:
        agent = subprocess.Popen(
            argv,
            cwd=FOLDER,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        _end(NOT_STARTED, error.strerror or "")
        return
    reader = threading.Thread(target=_read, args=(agent.stdout, printed), daemon=True)
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
    _end(code, bytes(printed).decode("utf-8", "replace"), late=late)


def _end(code: int, printed: str, *, late: bool = False) -> None:
    _asked.put((["ended", code, late, printed], queue.Queue()))


def _read(stream: IO[bytes], printed: bytearray) -> None:
    while chunk := os.read(stream.fileno(), 1 << 16):
        printed += chunk
        del printed[:-_TAIL]


def collect() -> tuple[dict[str, str], list[str]]:
    """Returns the text files below the folder by their paths, and the paths of those that are too large, no text, or links."""
    found: dict[str, str] = {}
    left_out, total = [], 0
    for place, folders, names in os.walk(FOLDER):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
        for file in (Path(place, name) for name in sorted(names)):
            path = file.relative_to(FOLDER).as_posix()
            size = file.stat().st_size if file.is_file() and not file.is_symlink() else _MOST
            try:
                if size > _LARGEST or total + size > _MOST:
                    raise ValueError
                found[path] = file.read_bytes().decode("utf-8")
                total += size
            except (OSError, ValueError):
                left_out.append(path)
    return found, left_out[:_PATHS]
