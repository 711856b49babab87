"""Agents in real boxes: one that works, and some that do not behave."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from evolve.engine.isolation import make_opener
from evolve.sandbox.machine.probe import probe
from evolve.testing import ScriptedModel, rehearsed_step
from evolve.types import Child, EditError, Evaluation, Program
from evolve_methods import agent
from evolve_methods.agent import AgentOperator, AgentSettings

MEANS = probe().means
pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not MEANS.namespaces, reason="needs namespaces: an agent's network is its box's own"),
]
WORKS = """
import json, os, subprocess, sys, urllib.request

def ask(text):
    talk = {"messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(talk).encode())
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["choices"][0]["message"]["content"]

assert "Find the best number." in open("TASK.md").read()
open("seed.py", "w").write(ask("which number?"))
found = subprocess.run([sys.executable, "evaluate.py"], capture_output=True, text=True, check=True)
assert json.loads(found.stdout)["fitness"] == 7.0
open("IDEA.txt", "w").write("Seven.")
"""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns may be short, and a box that does not answer is given up soon."""
    monkeypatch.setattr(agent, "LEAST", 0.0)
    monkeypatch.setattr(agent, "_MARGIN", 6.0)


CHANGES = "open('seed.py', 'w').write('x = 2')\n"


def scores(program: Program, stage: str = "") -> Evaluation:
    return Evaluation.ok(float(program.files["seed.py"].partition("=")[2]))


def propose(script: str, seconds: float = 30.0, evaluate: Callable[..., Evaluation] = scores) -> Child:
    """The child of an agent that is a script."""
    settings = AgentSettings(argv=("python3", "-c", script), memory=1 << 30)
    return propose_by(ScriptedModel("x = 7\n"), settings.model_copy(update={"seconds": seconds}), evaluate)


def propose_by(
    model: ScriptedModel,
    settings: AgentSettings | None = None,
    evaluate: Callable[..., Evaluation] = scores,
) -> Child:
    """The child of an agent that asks a model; without settings, of the small agent that comes along."""
    seed = Program({"seed.py": "x = 1\n"})
    opener = make_opener(MEANS, ())
    selection, context = rehearsed_step(seed, model=model, evaluate=evaluate, open_session=opener)
    (child,) = AgentOperator(settings or AgentSettings(seconds=30.0)).propose(selection, context)
    return child


def test_an_agent_asks_the_model_evaluates_and_hands_in() -> None:
    child = propose(WORKS)
    assert child.program == Program({"seed.py": "x = 7\n"})
    assert child.thought == "Seven."
    assert child.extras["agent"]["calls"] == child.extras["agent"]["evaluations"] == 1


def test_the_small_agent_carries_commands_out_until_it_is_done() -> None:
    """It shows the model what they print, sends an answer without a command back, and ends where the model does not answer any more."""
    answers = (
        "I look first.\n\n```sh\nls; cat seed.py\n```",
        "What a nice folder.",
        "```sh\ncat > seed.py <<'EOF'\nx = 7\nEOF\npython3 evaluate.py\n```",
        "```bash\nsleep 60 &\necho Seven. > IDEA.txt; yes | head -c 20000; exit 3\n```",
        "It is as good as I can make it.\n\nDONE",
    )
    model = ScriptedModel(*answers)
    child = propose_by(model)
    assert child.program == Program({"seed.py": "x = 7\n"})
    assert (child.thought, child.extras["agent"]["calls"]) == ("Seven.", 5)
    told = [heard.prompt.messages[-1].text for heard in model.heard]
    assert "Find the best number." in told[0]
    assert {"TASK.md", "evaluate.py", "seed.py"} <= set(told[1].split())
    assert "There is no command" in told[2]
    assert '"fitness": 7.0' in told[3]
    assert "8000 characters" in told[4]
    assert told[4].endswith("(exit code 3)")
    with pytest.raises(EditError, match="it changed nothing, after 2 calls"):
        propose_by(ScriptedModel("```sh\nls\n```"))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def test_it_reaches_nothing_outside_its_folder(tmp_path: Path, listener: socket.socket) -> None:
    """Neither files, nor a server of this machine, nor keys in its environment."""
    (tmp_path / "secret").write_text("a key")
    port = listener.getsockname()[1]
    script = f"""
import os, socket
for attempt in (
    lambda: open({str(tmp_path / "secret")!r}).read(),
    lambda: open({str(tmp_path / "left")!r}, "w"),
    lambda: open("/etc/left", "w"),
    lambda: socket.create_connection(("127.0.0.1", {port}), 1),
    lambda: socket.create_connection(("192.0.2.1", 80), 1),
    lambda: socket.getaddrinfo("example.org", 80),
):
    try:
        attempt()
    except OSError:
        continue
    raise SystemExit("it got out")
assert os.environ["OPENAI_API_KEY"] == "none" and "EVOLVE_TEST_KEY" not in os.environ
{CHANGES}"""
    os.environ["EVOLVE_TEST_KEY"] = "a key"
    try:
        assert propose(script).program == Program({"seed.py": "x = 2"})
    finally:
        del os.environ["EVOLVE_TEST_KEY"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret"]
    with pytest.raises(TimeoutError):
        listener.accept()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("import time\nwhile True:\n    time.sleep(1)", "its time was up"),
        ("print('I know no better')", "it changed nothing, .* Its last words: “I know no better”"),
        ("open('seed.py', 'w').write('#' * 50_000_000)", r"exit code|seed\.py is gone, too large"),
        ("open('seed.py', 'w').write('#' * 2_000_000)", r"seed\.py is gone, too large, or no text"),
        ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "ended by signal 9|instead of answering"),
        ("import sys\nwhile True:\n    print('more' * 1000)", "its time was up"),
        (
            "import os\nos.symlink('/etc/passwd', 'new')\nos.remove('seed.py')\nos.symlink('/etc/passwd', 'seed.py')",
            r"seed\.py is gone, too large",
        ),
        ("import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)", "did not answer in time"),
        ("raise ValueError('no idea')", "exit code 1, .*no idea"),
    ],
    ids=[
        "never ends",
        "no change",
        "50 MB",
        "2 MB",
        "kills its box",
        "prints for ever",
        "links",
        "stops its box",
        "fails",
    ],
)
def test_one_that_does_not_behave_is_one_clear_refusal(script: str, why: str) -> None:
    began = time.monotonic()
    with pytest.raises(EditError, match=f"(?s)the agent brings no program: .*({why})"):
        propose(script, seconds=3.0)
    assert time.monotonic() - began < 30


def test_evaluations_that_it_asked_for_before_its_end_are_not_begun_after_it() -> None:
    """They would be paid, and nobody would hear of them."""
    script = f"""
import os, threading, time, urllib.request
def ask():
    urllib.request.urlopen(os.environ["EVOLVE_URL"] + "/evaluate", b"").read()
{CHANGES}
for _ in range(5):
    threading.Thread(target=ask, daemon=True).start()
time.sleep(0.7)
os._exit(0)
"""
    asked = []

    def slow(program: Program, stage: str = "") -> Evaluation:
        asked.append(program)
        time.sleep(1.5)
        return Evaluation.ok(2.0)

    assert propose(script, evaluate=slow).program == Program({"seed.py": "x = 2"})
    assert len(asked) <= 2


def test_what_it_started_ends_with_it() -> None:
    script = f"import subprocess\nsubprocess.Popen(['sleep', '1357'], start_new_session=True)\n{CHANGES}"
    assert propose(script).program == Program({"seed.py": "x = 2"})
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            assert b"1357" not in path.read_bytes()
