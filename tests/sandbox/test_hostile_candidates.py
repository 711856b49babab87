"""Programs that do what machine-written programs do, and worse. Each ends as its own status, and the next answers 42.

Whatever multiplies or grows here is bounded by the program itself: plain isolation does not stop it."""

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.status import SessionFailed, Status
from evolve.types import Limits, Program

pytestmark = pytest.mark.integration

_FRAME = """
import json, os, struct, sys, time
def ticket():
    place = sys._getframe()
    while place.f_code.co_name != 'perform':
        place = place.f_back
    return place.f_locals['request'].ticket
def payload(text, blob=b''):
    return struct.pack('>I', len(text)) + text + blob
def frame(body):
    return ticket() + struct.pack('>Q', len(body)) + body
def answer(text):
    return frame(payload(text))
"""

CASES: dict[str, tuple[str, Status]] = {
    "spins": ("def f():\n while True: pass", Status.TIMEOUT),
    "sleeps": ("import time\ndef f(): time.sleep(100)", Status.TIMEOUT),
    "hangs at import": ("while True: pass\ndef f(): return 1", Status.TIMEOUT),
    "ignores every signal": (
        "import signal\nfor n in range(1, 65):\n try: signal.signal(n, signal.SIG_IGN)\n except (OSError, ValueError): pass\ndef f():\n while True: pass",
        Status.TIMEOUT,
    ),
    "prints for ever": ("def f():\n while True: print('#' * 1000)", Status.TIMEOUT),
    "stops itself": ("import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGSTOP)", Status.TIMEOUT),
    "never ends its answer": (
        _FRAME + "def f():\n os.write(4, ticket() + struct.pack('>Q', 900)); time.sleep(100)",
        Status.TIMEOUT,
    ),
    "raises": ("def f(): return 1 / 0", Status.ERROR),
    "raises what cannot be shown": (
        "class E(Exception):\n def __str__(self): raise self\ndef f(): raise E",
        Status.ERROR,
    ),
    "recurses for ever": ("def f(): return f()", Status.ERROR),
    "writes one large file": ("def f():\n with open('x', 'wb') as out: out.write(bytes(2 << 20))", Status.ERROR),
    "opens too many files": ("import os\ndef f(): return [os.dup(0) for _ in range(10_000)]", Status.ERROR),
    "raises as it is sent": (
        "class L(list):\n def __iter__(self): raise RuntimeError('no')\ndef f(): return L([[1]])",
        Status.BAD_JSON,
    ),
    "allocates 8 GiB": ("def f(): return len(bytearray(8 << 30))", Status.MEMORY_LIMIT),
    "allocates little by little": (
        "def f():\n held = []\n while True: held.append(bytearray(1 << 20))",
        Status.MEMORY_LIMIT,
    ),
    "allocates at import": ("held = bytearray(8 << 30)\ndef f(): return 1", Status.MEMORY_LIMIT),
    "aborts": ("import os\ndef f(): os.abort()", Status.SIGNAL),
    "reads address 0": ("import ctypes\ndef f(): ctypes.string_at(0)", Status.SIGNAL),
    "kills itself": ("import os\ndef f(): os.kill(os.getpid(), 9)", Status.SIGNAL),
    "kills its group": ("import os\ndef f(): os.killpg(0, 15)", Status.SIGNAL),
    "exits with 0": ("import os\ndef f(): os._exit(0)", Status.NO_RESULT),
    "leaves": ("import sys\ndef f(): sys.exit(0)", Status.NO_RESULT),
    "leaves at import": ("raise SystemExit", Status.NO_RESULT),
    "closes its answers": ("import os, time\ndef f():\n os.close(4); time.sleep(100)", Status.NO_RESULT),
    "closes everything": ("import os\ndef f(): os.closerange(0, 100)", Status.NO_RESULT),
    "exits and leaves a child with its pipes": (
        "import os, time\ndef f():\n if os.fork() == 0:\n  os.setsid(); time.sleep(100)\n os._exit(0)",
        Status.NO_RESULT,
    ),
    "does not parse": ("def f(:", Status.NO_ENTRY),
    "does not import": ("import no_such_module\ndef f(): return 1", Status.NO_ENTRY),
    "lacks the function": ("def g(): return 1", Status.NO_ENTRY),
    "holds a null": ("def f(): return 1\0", Status.NO_ENTRY),
    "answers nonsense": ("import os\ndef f(): os.write(4, b'result: 100%, trust me')", Status.BAD_FRAME),
    "answers twice": (_FRAME + "def f(): os.write(4, answer(b'[\"ok\",1]') * 2)", Status.BAD_FRAME),
    "announces 2**60 bytes": (_FRAME + "def f(): os.write(4, ticket() + struct.pack('>Q', 2 ** 60))", Status.BAD_FRAME),
    "stops in the middle": (
        _FRAME + "def f():\n os.write(4, answer(b'[\"ok\",1]')[:-1]); os._exit(0)",
        Status.BAD_FRAME,
    ),
    "answers a pickle": (
        _FRAME + "def f():\n os.write(4, frame(b'cos\\nsystem\\n(S\"exit 1\"\\ntR.'))\n time.sleep(100)",
        Status.BAD_JSON,
    ),
    "answers deeply": (_FRAME + "def f():\n os.write(4, answer(b'[' * 50_000))\n time.sleep(100)", Status.BAD_JSON),
    "answers NaN": ("def f(): return float('nan')", Status.BAD_JSON),
    "answers NaN by hand": (
        _FRAME + "def f():\n os.write(4, answer(b'[\"ok\",NaN]'))\n time.sleep(100)",
        Status.BAD_JSON,
    ),
    "answers a huge integer": (
        "import sys\ndef f():\n sys.set_int_max_str_digits(0)\n return 10 ** 5000",
        Status.BAD_JSON,
    ),
    "answers an open file": ("import sys\ndef f(): return sys.stdout", Status.BAD_JSON),
    "answers itself": ("def f():\n x = []\n x.append(x)\n return x", Status.BAD_JSON),
    "claims a status of ours": (
        _FRAME + 'def f():\n os.write(4, answer(b\'["broken","yours"]\'))\n time.sleep(100)',
        Status.BAD_JSON,
    ),
    "claims a status with data": (
        _FRAME + "def f():\n os.write(4, answer(b'[\"error\",[1]]'))\n time.sleep(100)",
        Status.BAD_JSON,
    ),
    "answers in another form": (
        _FRAME + "def f():\n os.write(4, answer(b'{\"score\":1}'))\n time.sleep(100)",
        Status.BAD_JSON,
    ),
    "answers at length": ("def f(): return 'x' * (2 << 20)", Status.RESULT_TOO_LARGE),
    "kills the template": ("import os, time\ndef f():\n os.kill(os.getppid(), 9); time.sleep(100)", Status.BROKEN),
    "stops the template": (
        "import os, signal\ndef f():\n os.kill(os.getppid(), signal.SIGSTOP); os._exit(0)",
        Status.BROKEN,
    ),
}
_SHORT = {Status.TIMEOUT}


@pytest.mark.parametrize(
    ("source", "status"),
    [
        # The judge waits for a template that is stopped as long as for one that is busy.
        pytest.param(*case, id=name, marks=[pytest.mark.slow] if name == "stops the template" else [])
        for name, case in CASES.items()
    ],
)
def test_it_ends_as_its_status_and_the_next_is_judged(call: Callable[..., Any], source: str, status: Status) -> None:
    """The status is the judge's finding, and the box is as good as new."""
    with pytest.raises(SessionFailed) as caught:
        call(source, seconds=0.4 if status in _SHORT else 10.0)
    assert (caught.value.status, caught.value.message != "") == (status, True)
    assert call("def f(): return 42") == 42


@pytest.mark.parametrize(("source", "number"), [(CASES["aborts"][0], 6), (CASES["reads address 0"][0], 11)])
def test_the_signal_is_named(call: Callable[..., Any], source: str, number: int) -> None:
    """By its number, and in the message."""
    with pytest.raises(SessionFailed) as caught:
        call(source)
    assert caught.value.signal == number
    assert f"signal {number} (SIG" in caught.value.message


def test_a_signal_without_a_name_is_told_by_its_number(call: Callable[..., Any]) -> None:
    """Real-time signals have none."""
    with pytest.raises(SessionFailed, match=r"signal 40 \(no name\)"):
        call("import os\ndef f(): os.kill(os.getpid(), 40)")


def test_talking_before_the_question_ends_the_session(box: Box) -> None:
    """A frame that is ready when the question comes is no answer to it."""
    source = (
        _FRAME
        + "import threading\ndef f():\n threading.Timer(0.05, os.write, (4, answer(b'[\"ok\",7]'))).start()\n return 1"
    )
    with box.open(Program({"seed.py": source}), "seed", 10) as session:
        assert session.call("f") == 1
        time.sleep(0.3)
        with pytest.raises(SessionFailed) as caught:
            session.call("f")
    assert caught.value.status is Status.BAD_FRAME


def test_talking_after_the_answer_fails_the_session(box: Box) -> None:
    """It is found when the session ends, if nothing else has failed."""
    source = _FRAME + "import threading\ndef f():\n threading.Timer(0.05, os.write, (4, b'late')).start()\n return 1"
    session = box.open(Program({"seed.py": source}), "seed", 10)
    assert session.call("f") == 1
    time.sleep(0.3)
    with pytest.raises(SessionFailed) as caught, session:
        pass
    assert (caught.value.status, caught.value.message) == (
        Status.BAD_FRAME,
        "the program sent something that it was not asked for",
    )


def test_killing_the_template_after_the_answer_is_found(box: Box) -> None:
    """A session that has no proper end has failed, whatever was answered."""
    source = "import os, threading\ndef f():\n threading.Timer(0.05, os.kill, (os.getppid(), 9)).start()\n return 1"
    session = box.open(Program({"seed.py": source}), "seed", 10)
    session.call("f")
    time.sleep(0.3)
    with pytest.raises(SessionFailed) as caught, session:
        pass
    assert caught.value.status is Status.BROKEN
    with box.open(Program({"seed.py": "def f(): return 42"}), "seed", 10) as session:
        assert session.call("f") == 42


_LEAVES = {
    "twenty children": ("for _ in range(20):\n  if os.fork() == 0:\n   time.sleep(100)", 20),
    "a daemon": (
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n   time.sleep(100)\n  os._exit(0)\n os.wait()",
        1,
    ),
    "a family": ("for _ in range(3):\n  if os.fork() == 0:\n   os.setsid()\n   os.fork()\n   time.sleep(100)", 6),
    "another program": (
        "import subprocess\n subprocess.Popen(['sleep', '100'], start_new_session=True, env={'TMPDIR': os.environ['TMPDIR']})",
        1,
    ),
    "a child that clears its tie": (
        "import ctypes\n ctypes.CDLL(None).prctl(1, 0)\n if os.fork() == 0:\n  os.setsid(); time.sleep(100)",
        1,
    ),
}


@pytest.mark.parametrize(("leave", "strays"), _LEAVES.values(), ids=_LEAVES)
def test_what_it_leaves_is_ended(box: Box, processes: Callable[[str], list[int]], leave: str, strays: int) -> None:
    """The answer counts, the processes are counted, and only the template is left."""
    source = f"import os, time\ndef f():\n {leave}\n time.sleep(0.1)\n return os.environ['TMPDIR']"
    with box.open(Program({"seed.py": source}), "seed", 10) as session:
        folder = session.call("f")
    assert session.usage.strays == strays
    assert len(processes(folder)) == 1


def test_a_template_that_was_killed_leaves_no_strays(box: Box, processes: Callable[[str], list[int]]) -> None:
    """They are found by the folder in their environment."""
    source = """
import os, time
def f():
    if os.fork() == 0:
        os.setsid()
        time.sleep(100)
    return os.environ['TMPDIR']
def kill():
    os.kill(os.getppid(), 9)
    time.sleep(100)
"""
    with box.open(Program({"seed.py": source}), "seed", 10) as session:
        folder = session.call("f")
        with pytest.raises(SessionFailed) as caught:
            session.call("kill")
    assert caught.value.status is Status.BROKEN
    deadline = time.monotonic() + 5
    while processes(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes(folder) == []


def test_a_secret_of_the_judge_is_not_to_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its own environment nor in that of the process that it comes from."""
    monkeypatch.setenv("EVOLVE_TEST_SECRET", "do-not-tell")
    box = Box(Limits())
    source = (
        "import os\ndef f():\n with open(f'/proc/{os.getppid()}/environ') as e: return [dict(os.environ), e.read()]"
    )
    try:
        with box.open(Program({"seed.py": source}), "seed", 10) as session:
            assert "do-not-tell" not in repr(session.call("f"))
    finally:
        box.close()
    assert os.environ["EVOLVE_TEST_SECRET"] == "do-not-tell"


def test_files_are_gone_next_time(call: Callable[..., Any]) -> None:
    """Those in its folder, and those beside it."""
    listing = "import os\ndef f(): return [os.listdir('.'), os.listdir('..'), os.getcwd() == os.environ['HOME']]"
    call(
        "from pathlib import Path\ndef f():\n Path('a').mkdir(0)\n Path('x').write_text('left')\n Path('../y').write_text('left')"
    )
    assert call(listing) == [[], ["scratch"], True]


def test_patches_are_gone_next_time(call: Callable[..., Any]) -> None:
    """What a program does to its interpreter ends with it; and its own answers come through what it patched."""
    patch = "import json, os, builtins\ndef f():\n json.loads = json.dumps = builtins.sorted = None\n os.environ['LEFT'] = 'x'\n return 1"
    assert call(patch) == 1
    assert call("import json, os\ndef f(): return [json.dumps([1]), sorted('ba'), 'LEFT' in os.environ]") == [
        "[1]",
        ["a", "b"],
        False,
    ]


def test_limits_hold_for_what_it_starts(call: Callable[..., Any]) -> None:
    """A program that is started by a program has the same limits, and cannot raise them when it is not root's."""
    source = "import resource\ndef f(): return [resource.getrlimit(w) for w in (resource.RLIMIT_AS, resource.RLIMIT_CORE, resource.RLIMIT_NOFILE, resource.RLIMIT_CPU)]"
    assert call(source) == [[1 << 30, 1 << 30], [1, 1], [128, 128], [11, 11]]
