"""The engine's client against a real server, which is slow for its size, lists no models, ignores `n`, and talks nonsense."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evolve import edits
from evolve.edits import EditFailed
from evolve.protocols import Model
from evolve.types import Message, ModelError, Program, Prompt, Reply, Section
from tests.server.conftest import PROGRAMS, Server

pytestmark = [pytest.mark.server, pytest.mark.slow]
CALLS = 200
SEED = "def area(radius):\n    return 3.14 * radius**2\n"
PROGRAM = Program({"seed.py": SEED})
EVOLVE = Path(sys.executable).with_name("evolve")
AT_ONCE = 8
PATIENCE = 60.0
LONG = 2000
"""Tokens that take this server several seconds. It goes on with them when nobody waits any more, so those tests come last."""


def asking(text: str, max_tokens: int = 32) -> Prompt:
    """A prompt of one message."""
    return Prompt((Message("user", (Section("task", text),)),), temperature=1.0, max_tokens=max_tokens)


def complete(model: Model, prompt: Prompt, seconds: float = PATIENCE, samples: Sequence[int] = (0,)) -> Sequence[Reply]:
    """The answers to a prompt, or what the client raises."""
    cancelled = threading.Event()
    return model.complete(prompt, samples=samples, deadline=time.monotonic() + seconds, cancelled=cancelled)


@pytest.fixture
def model(server: Server):
    """The client, closed in the end."""
    made = server.client()
    yield made
    made.close()


def test_a_check_succeeds(model):
    """Although the server lists no models."""
    model.check(time.monotonic() + PATIENCE, threading.Event())


def test_usage_is_that_of_the_models_own_tokenizer(model, server):
    """For texts of several scripts and lengths; an answer is never longer than it may be."""
    texts = ["x", "def area(radius):\n    return 3.14 * radius**2\n", "größer → 円 🙂", "word " * 500]
    program = [PROGRAMS / "python", Path(__file__).with_name("count_tokens.py"), server.model]
    counted = subprocess.run(
        program, input=json.dumps(texts), capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    usages = [complete(model, asking(text))[0].usage for text in texts]
    assert [usage.prompt_tokens for usage in usages] == json.loads(counted.stdout)
    assert all(usage.exact and 0 < usage.completion_tokens <= 32 for usage in usages)


def test_an_answer_that_is_cut_off_says_so(model):
    """A model that has learned nothing hardly ever ends by itself."""
    reply = complete(model, asking("x", max_tokens=5))[0]
    assert (reply.finish, reply.usage.completion_tokens) == ("length", 5)


def test_eight_calls_at_once_are_all_answered(model):
    """One client, eight threads."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = list(pool.map(lambda number: complete(model, asking(f"program {number}")), range(4 * AT_ONCE)))
    assert [len(found) for found in replies] == [1] * (4 * AT_ONCE)


def test_several_samples_are_answered_by_fewer(model):
    """The server ignores `n`: what is missing is asked for again by the engine, and never paid for twice."""
    replies = complete(model, asking("x"), samples=(0, 1, 2))
    assert 1 <= len(replies) <= 3
    assert sum(reply.usage.completion_tokens for reply in replies) <= 32 * len(replies)


def test_an_unknown_model_is_an_error_that_quotes_the_server(server):
    """It is bound to its own."""
    model = server.client(model="another")
    with pytest.raises(ModelError, match="requested 'another'"):
        complete(model, asking("x"))
    model.close()


def test_two_hundred_calls_of_nonsense_are_two_hundred_answers(model, server, capsys):
    """None is lost, none is paid twice, and each text is what it is."""
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        replies = [
            reply
            for found in pool.map(lambda number: complete(model, asking(f"improve {number}", 24)), range(CALLS))
            for reply in found
        ]
    rate = CALLS / (time.monotonic() - began)
    with capsys.disabled():
        print(f"\n{rate:.0f} calls/s; the server was up in {server.seconds:.0f} s and takes {server.megabytes:.0f} MB")
    assert len(replies) == CALLS
    assert {reply.attempts for reply in replies} == {1}
    assert all(reply.usage.exact and reply.finish in ("stop", "length") for reply in replies)
    assert all(reply.text.encode("utf-8") for reply in replies)
    assert Counter(map(ending, replies)).total() == CALLS


def ending(reply: Reply) -> str:
    """What becomes of an answer as an edit: a typed failure, or a program."""
    try:
        return "program" if edits.read(reply.text, PROGRAM, finish=reply.finish) else "nothing"
    except EditFailed as failure:
        return failure.kind.value


def test_a_model_that_talks_nonsense_changes_no_program(model):
    """Whatever it says, the prompt is one of the engine's own."""
    replies = [complete(model, asking(f"Change this program.\n\n{SEED}"))[0] for _ in range(8)]
    assert "program" not in map(ending, replies)


def test_ping_says_that_the_server_answers(server):
    """As a person asks for it."""
    words = ["model", "ping", f"{server.model}@{server.url}", "--json"]
    done = subprocess.run([EVOLVE, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    # A check that takes longer than a second says who is called.
    assert done.stderr in ("", f"evolve: calling {server.model} ...\n")
    assert json.loads(done.stdout)["error"] == ""


def test_a_campaign_survives_a_model_that_talks_nonsense(server, tmp_path):
    """Each reply is a record that says why there is no program in it, and the other operators go on."""
    (tmp_path / "archive").mkdir()
    budget = ["--budget", "20programs", "--set", "models.members=[" + member(server) + "]"]
    done = subprocess.run(
        [EVOLVE, "run", "circle_packing_algorithm", *budget, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    written = [line for line in lines if line.get("model") == "tiny"]
    assert written
    assert {line["outcome"] for line in written} == {"screened"}
    assert (lines[-1]["programs"], lines[-1]["tokens"] > 0) == (20, True)


def member(server: Server) -> str:
    """The server as a member of a campaign, with short answers."""
    return (
        f'{{name="tiny", max_tokens=64, concurrency=4, settings={{model="{server.model}", base_url="{server.url}"}}}}'
    )


def late(server: Server, stop: Callable[[threading.Event], None], seconds: float) -> tuple[float, str]:
    """How long a call of thousands of tokens took to end, and with what error, where `stop` may cancel it."""
    model, cancelled = server.client(), threading.Event()
    stop(cancelled)
    began = time.monotonic()
    try:
        with pytest.raises(ModelError) as caught:
            model.complete(asking("x", max_tokens=LONG), samples=(0,), deadline=began + seconds, cancelled=cancelled)
        return time.monotonic() - began, str(caught.value)
    finally:
        model.close()


def test_a_call_ends_at_its_deadline(server):
    """Though the server goes on with it; the next call is answered when it is done."""
    seconds, _ = late(server, lambda cancelled: None, 1.0)
    assert 0.9 < seconds < 5


def test_a_call_ends_when_it_is_cancelled(server):
    """As soon, whatever the server does."""
    seconds, _ = late(server, lambda cancelled: threading.Timer(0.5, cancelled.set).start(), PATIENCE)
    assert 0.4 < seconds < 5
