"""Programs that do harm, through the whole judge: each ends as its documented outcome, and the next one gets the score it deserves.

Whatever multiplies or grows here is bounded by the program itself, for plain isolation does not stop it."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evolve.task
from evolve.evaluation import Job, LocalExecutor, Report, decode_report, encode_job
from evolve.sandbox.processes import children
from evolve.types import Outcome

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the judge's processes need Linux"),
]

TASK = {
    "task.toml": """schema = 1
deterministic = true
[[stages]]
name = "evaluate"
seconds = 30
[[stages]]
name = "short"
seconds = 1.5
[sandbox]
memory = "512MiB"
""",
    "README.md": "Find the number.\n",
    "seed.py": "def value():\n    return 5.0\n",
    "evaluator.py": """import math

from evolve import Candidate, Evaluation, Trial, evaluator


def evaluated(candidate: Candidate) -> Evaluation:
    answer = candidate.call("value")
    value, left = answer if type(answer) is list and len(answer) == 2 else (answer, [])
    if type(value) is not float:
        return Evaluation.invalid(f"value() must return a float, got a {type(value).__name__}")
    return Evaluation.ok(math.sqrt(value), artifacts={"left": left})


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    return evaluated(candidate)


@evaluate.stage("short")
def short(candidate: Candidate, trial: Trial) -> Evaluation:
    return evaluated(candidate)
""",
}
FRAMES = """import os, struct, sys, time

def ticket():
    place = sys._getframe()
    while place.f_code.co_name != "perform":
        place = place.f_back
    return place.f_locals["request"].ticket

def answer(text):
    payload = struct.pack(">I", len(text)) + text
    return ticket() + struct.pack(">Q", len(payload)) + payload
"""

HOSTILE = {
    "hangs": ("def value():\n    while True: pass", Outcome.TIMED_OUT),
    "hangs at import": ("while True: pass", Outcome.TIMED_OUT),
    "sleeps": ("import time\ndef value(): time.sleep(60)", Outcome.TIMED_OUT),
    "ignores signals": (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "def value():\n    while True: pass",
        Outcome.TIMED_OUT,
    ),
    "prints for ever": ("def value():\n    while True: print('#' * 10_000)", Outcome.TIMED_OUT),
    "stops itself": ("import os, signal\ndef value(): os.kill(os.getpid(), signal.SIGSTOP)", Outcome.TIMED_OUT),
    "allocates for ever": (
        "def value():\n    held = []\n    while True: held.append(bytearray(1 << 24))",
        Outcome.OUT_OF_MEMORY,
    ),
    "allocates at once": ("def value(): return float(len(bytearray(1 << 40)))", Outcome.OUT_OF_MEMORY),
    "aborts": ("import os\ndef value(): os.abort()", Outcome.CRASHED),
    "reads address 0": ("import ctypes\ndef value(): ctypes.string_at(0)", Outcome.CRASHED),
    "kills itself": ("import os\ndef value(): os.kill(os.getpid(), 9)", Outcome.CRASHED),
    "raises": ("def value(): raise ValueError('no')", Outcome.CRASHED),
    "raises SystemExit": ("def value(): raise SystemExit(0)", Outcome.CRASHED),
    "raises KeyboardInterrupt": ("def value(): raise KeyboardInterrupt", Outcome.CRASHED),
    "exits with 0": ("import os\ndef value(): os._exit(0)", Outcome.CRASHED),
    "exits at import": ("import sys\nsys.exit(0)", Outcome.CRASHED),
    "recurses for ever": ("def value(): return value()", Outcome.CRASHED),
    "closes its answers": ("import os, time\ndef value():\n    os.close(4)\n    time.sleep(60)", Outcome.CRASHED),
    "does not parse": ("def value(:", Outcome.INVALID),
    "lacks the function": ("def valeu(): return 9.0", Outcome.INVALID),
    "answers garbage": ("import os\ndef value(): os.write(4, b'the score is 100, trust me')", Outcome.INVALID),
    "answers by hand and goes on": (
        FRAMES + "def value():\n    os.write(4, answer(b'[\"ok\",100.0]') * 2)\n    time.sleep(60)",
        Outcome.INVALID,
    ),
    "talks out of turn": (
        FRAMES + "os.write(4, 2 * answer(b'[\"ok\",100.0]'))\ndef value(): return 9.0",
        Outcome.INVALID,
    ),
    "announces too much": (FRAMES + "def value(): os.write(4, ticket() + struct.pack('>Q', 1 << 50))", Outcome.INVALID),
    "answers NaN": ("def value(): return float('nan')", Outcome.INVALID),
    "answers another type": ("def value(): return '9.0'", Outcome.INVALID),
    "answers an object": ("def value(): return object()", Outcome.INVALID),
    "answers at length": ("def value(): return 'x' * (9 << 20)", Outcome.INVALID),
    "claims a failure of ours": (
        FRAMES + 'def value():\n    os.write(4, answer(b\'["broken","yours"]\'))\n    time.sleep(60)',
        Outcome.INVALID,
    ),
    "kills its template": (
        "import os, time\ndef value():\n    os.kill(os.getppid(), 9)\n    time.sleep(60)",
        Outcome.INTERNAL,
    ),
}

LEAVES = {
    "ten children": """
    left = [os.fork() for _ in range(10) if os.getpid() == own]
    if os.getpid() != own: time.sleep(60)
""",
    "a daemon": """
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(write, str(os.getpid()).encode())
            time.sleep(60)
        os._exit(0)
    os.wait()
    left = [int(os.read(read, 20))]
""",
    "another program": """
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    left = [subprocess.Popen(command, start_new_session=True).pid]
""",
}

PATCHES = {
    "the standard library": ("import math, json\nmath.sqrt = json.dumps = json.loads = lambda *a, **k: 100.0", 4.0),
    "the builtins": ("import builtins\nbuiltins.float = builtins.type = builtins.isinstance = lambda *a: 100.0", None),
    "the engine": (
        "import sys\nsys.modules['evolve'] = sys.modules['evolve.sandbox'] = sys.modules['math'] = None",
        4.0,
    ),
    "the environment": ("import os\nos.environ.clear()\nos.umask(0o777)\nos.chdir('/')", 4.0),
    "the clock": ("import time\ntime.monotonic = time.time = lambda: 0.0", 4.0),
}
"""What it does to its own interpreter, and the score that it gets: that of the judge's own code, or none where it broke its answer."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalExecutor]:
    """One slot, so that the next program is evaluated where the harmful one was. At the end no process of it is left."""
    folder = tmp_path_factory.mktemp("tasks") / "number"
    folder.mkdir()
    for name, text in TASK.items():
        (folder / name).write_text(text)
    others = set(children(os.getpid()))
    with contextlib.closing(LocalExecutor(evolve.task.load(folder), 1)) as made:
        made.describe()
        yield made
    assert set(children(os.getpid())) - others == set()


def evaluated(judge: LocalExecutor, source: str, stage: str = "evaluate") -> Report:
    """At the stage "short" it has little time, so that those that never end are ended soon; at the other it is enough on any machine."""
    files = {"seed.py": source + "\n"}
    return decode_report(judge.submit("1.0", encode_job(Job("1.0", "evaluate", files=files, stage=stage))).result(60))


def check_next(judge: LocalExecutor) -> None:
    """A program of good will gets its score."""
    evaluation = evaluated(judge, "def value(): return 9.0").evaluation
    assert (evaluation.outcome, evaluation.fitness) == (Outcome.OK, 3.0)


@pytest.mark.parametrize(("source", "outcome"), HOSTILE.values(), ids=HOSTILE)
def test_it_ends_as_its_outcome_and_the_next_is_judged(judge: LocalExecutor, source: str, outcome: Outcome) -> None:
    """Without a score, and with a reason."""
    report = evaluated(judge, source, "short" if outcome is Outcome.TIMED_OUT else "evaluate")
    evaluation = report.evaluation
    assert (evaluation.outcome, evaluation.fitness) == (outcome, None)
    assert report.texts[evaluation.feedback]
    assert evaluation.isolation.startswith("reduced")
    check_next(judge)


def test_what_it_printed_last_is_told(judge: LocalExecutor) -> None:
    """Its end, not all of it."""
    report = evaluated(
        judge, "def value():\n    print('x' * 1_000_000)\n    print('the last word')\n    raise ValueError"
    )
    feedback = report.texts[report.evaluation.feedback]
    assert "the last word" in feedback
    assert len(feedback) < 10_000


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_what_it_leaves_is_ended_and_its_answer_counts(judge: LocalExecutor, leave: str) -> None:
    """Processes that lived when it answered are gone when its report has come."""
    start = "import os, subprocess, sys, time\ndef value():\n    own = os.getpid()"
    alive = "    for pid in left: os.kill(pid, 0)\n    return [9.0, left]"
    report = evaluated(judge, start + leave + alive)
    assert (report.evaluation.outcome, report.evaluation.fitness) == (Outcome.OK, 3.0)
    left = json.loads(report.texts[report.evaluation.artifacts["left"]])
    assert left
    assert [pid for pid in left if Path(f"/proc/{pid}").exists()] == []
    check_next(judge)


@pytest.mark.parametrize(("patch", "fitness"), PATCHES.values(), ids=PATCHES)
def test_what_it_patches_is_its_own(judge: LocalExecutor, patch: str, fitness: float | None) -> None:
    """The next is evaluated as if it had not been."""
    evaluation = evaluated(judge, patch + "\ndef value(): return 16.0").evaluation
    assert evaluation.fitness == fitness
    check_next(judge)


def test_files_that_it_leaves_are_gone(judge: LocalExecutor) -> None:
    """The next starts in an empty folder."""
    evaluated(judge, "def value():\n    open('left', 'w').write('x')\n    return 9.0")
    report = evaluated(judge, "import os\ndef value(): return float(len(os.listdir('.')))")
    assert report.evaluation.fitness == 0.0


def test_a_crowd_of_them_harms_no_neighbour(judge: LocalExecutor) -> None:
    """Harmful and good programs in turn, queued at once: every good one has its score."""
    crowd = ["aborts", "exits with 0", "answers garbage", "raises SystemExit", "answers NaN", "kills its template"]
    futures = []
    for number, source in enumerate(
        source for name in crowd for source in (HOSTILE[name][0], "def value(): return 9.0")
    ):
        job = Job(f"{number}.0", "evaluate", files={"seed.py": source + "\n"}, stage="evaluate")
        futures.append(judge.submit(job.id, encode_job(job)))
    reports = [decode_report(future.result(60)).evaluation for future in futures]
    assert [report.outcome for report in reports[::2]] == [HOSTILE[name][1] for name in crowd]
    assert [report.fitness for report in reports[1::2]] == [3.0] * len(crowd)
