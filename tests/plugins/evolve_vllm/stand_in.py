"""Plays `vllm serve` on the standard library: `stand_in.py serve MODEL --host H --port P [--served-model-name NAME] [how it behaves]`.

It answers /health, and chat completions to who has its key. Run as a program of its own."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

given = argparse.ArgumentParser(allow_abbrev=False)
given.add_argument("serve", choices=["serve"])
given.add_argument("model")
given.add_argument("--host", required=True)
given.add_argument("--port", type=int, required=True)
given.add_argument("--served-model-name", required=True)
given.add_argument("--tensor-parallel-size", type=int, default=1)
given.add_argument("--notes", help="a file: what it was given, a line a start")
given.add_argument("--seconds", type=float, default=0.0, help="how long it takes before it listens")
given.add_argument("--fails", default="", help="it prints this and ends with code 3")
given.add_argument("--finds-its-port-taken", action="store_true", help="at its first start")
given.add_argument("--ignores-signals", action="store_true")
given.add_argument("--starts-a-worker", action="store_true", help="which ignores signals too")
words = given.parse_args()

_SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


class Answers(BaseHTTPRequestHandler):
    """A prompt that is "die" ends the server, and "fall ill" makes it answer no more."""

    protocol_version = "HTTP/1.1"
    is_well = True

    def do_GET(self) -> None:
        """/health."""
        self._say(200 if self.path == "/health" and Answers.is_well else 503, {})

    def do_POST(self) -> None:
        """/v1/chat/completions."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.headers["authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            return self._say(401, {"error": {"message": "Unauthorized"}})
        text = asked["messages"][-1]["content"]
        if text == "die":
            print("RuntimeError: Engine core initialization failed", flush=True)
            os._exit(7)
        Answers.is_well = Answers.is_well and text != "fall ill"
        if not Answers.is_well:
            return self._say(503, {"error": {"message": "the engine is dead"}})
        message = {"role": "assistant", "content": f"echo: {text}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        return self._say(
            200,
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": words.served_model_name,
                "choices": [choice],
                "usage": usage,
            },
        )

    def _say(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


def main() -> None:
    """Behaves as it was told to."""
    starts = 0
    worker = 0
    if words.starts_a_worker:
        worker = subprocess.Popen([sys.executable, "-c", _SLEEPER]).pid
    if words.notes:
        notes = Path(words.notes)
        starts = len(notes.read_text().splitlines()) if notes.exists() else 0
        facts = {"argv": sys.argv[1:], "environment": dict(os.environ), "pid": os.getpid(), "worker": worker}
        with notes.open("a") as file:
            file.write(json.dumps(facts) + "\n")
    if words.ignores_signals:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"INFO \x1b[32mloading\x1b[0m {words.model}", flush=True)
    if words.fails:
        print(words.fails, file=sys.stderr, flush=True)
        sys.exit(3)
    if words.finds_its_port_taken and not starts:
        print("OSError: [Errno 98] Address already in use", flush=True)
        sys.exit(1)
    time.sleep(words.seconds)
    ThreadingHTTPServer((words.host, words.port), Answers).serve_forever()


main()
