"""An OpenAI-compatible server on 127.0.0.1 whose answers are files, for engines that are not evolve.

A box looks and is answered as that of evolve's `mailbox`: a prompt is NAME.md, its answer NAME.reply.md, and both move to `done/`."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOOK_SECONDS = 1.0
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Answer:
    """A call that was answered. `request` is the digest of its messages, by role and content."""

    name: str
    request: str
    messages: Sequence[Mapping[str, str]]
    reply: str

    @property
    def prompt_tokens(self) -> int:
        """An estimate, as evolve makes it for a mailbox."""
        return sum(len(message["content"]) for message in self.messages) // CHARACTERS_PER_TOKEN

    @property
    def completion_tokens(self) -> int:
        """An estimate, too."""
        return len(self.reply) // CHARACTERS_PER_TOKEN


class Letterbox:
    """Serves until its `with` block ends. `answers` are in the order in which they came; requests come on threads of their own."""

    def __init__(self, folder: Path, most: int) -> None:
        """Answers `most` calls; further ones are refused, so that the budget holds."""
        self.folder = folder
        self.answers: list[Answer] = []
        self._left = most
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        (folder / "done").mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> "Letterbox":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        threading.Thread(target=self._server.serve_forever, name="letterbox", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        """The base URL for a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def complete(self, messages: Sequence[Mapping[str, str]]) -> Answer | None:
        """Posts a prompt, and waits for its answer; returns None where no call is left, or the run has ended."""
        request = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()[:16]
        with self._lock:
            if not self._left:
                return None
            self._left -= 1
            name = f"{request}-{self._asked[request]}"
            self._asked[request] += 1
        write_whole(self.folder / f"{name}.md", format_letter(name, messages))
        reply = self._wait(name)
        if reply is None:
            return None
        answer = Answer(name, request, messages, "" if reply.strip().casefold() == "skip" else reply)
        with self._lock:
            self.answers.append(answer)
        return answer

    def _wait(self, name: str) -> str | None:
        place, before = self.folder / f"{name}.reply.md", None
        while not self._ended.wait(LOOK_SECONDS):
            found = None
            with suppress(FileNotFoundError):
                found = place.read_text("utf-8")
            # A reply that has changed since the last look is still being written.
            if found and found == before:
                for path in (self.folder / f"{name}.md", place):
                    path.replace(self.folder / "done" / path.name)
                return found
            before = found
        return None


def write_whole(path: Path, text: str) -> None:
    """Writes a file that is there whole or not at all."""
    draft = path.with_name(f".{path.name}")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def format_letter(name: str, messages: Sequence[Mapping[str, str]]) -> str:
    """Returns a prompt below a head for whoever answers."""
    parts = [f"==== {name}: {message['role']} ====\n\n{message['content']}\n" for message in messages]
    head = (
        f"# {name}\n\nAnswer in a new file beside this one, `{name}.reply.md`. Write it under another name and rename it when it is whole. "
        "The answer `skip` alone refuses to answer.\n\nEverything below is the prompt. A line of `====` says who speaks.\n"
    )
    return "\n".join([head, *parts])


def _handler_of(box: Letterbox) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Chat completions, one at a time per connection."""

        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            """Answers a chat completion; 400 where no call is left, which no client tries again."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = box.complete(body["messages"])
            if answer is None:
                self._send(400, {"error": {"message": "no calls are left", "type": "budget"}})
            else:
                self._send(200, format_completion(answer, str(body.get("model", ""))))

        def _send(self, status: int, value: Mapping[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    return Handler


def format_completion(answer: Answer, model: str) -> dict[str, Any]:
    """Returns the body of an answer."""
    used = {"prompt_tokens": answer.prompt_tokens, "completion_tokens": answer.completion_tokens}
    message = {"role": "assistant", "content": answer.reply}
    return {
        "id": answer.name,
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": used | {"total_tokens": sum(used.values())},
    }
