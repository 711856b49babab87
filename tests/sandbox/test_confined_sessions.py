"""Sessions under the best means that this machine has: what builds, runs and large requests are under a filter of system calls."""

import errno
import shutil
from collections.abc import Iterator

import pytest

from evolve.sandbox.box import Box
from evolve.sandbox.machine import host
from evolve.sandbox.machine.offer import offer
from evolve.types import Grants, Limits, Program

_MEANS = offer(host.read()).means

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not _MEANS.seccomp, reason="there is no filter of system calls here"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

_PROGRAM = Program(
    {
        "answer.c": "int answer(void) { return 42; }\n",
        "seed.py": """
import ctypes, os, subprocess
def answer():
    return ctypes.CDLL("./answer.so").answer()
def start():
    try:
        return subprocess.run(["cc", "--version"], capture_output=True).returncode
    except OSError as error:
        return error.errno
def length(text):
    return [len(text), sorted(map(int, os.listdir("/proc/self/fd")))]
""",
    }
)
_LIBRARY = ["cc", "-shared", "-fPIC", "-o", "answer.so", "answer.c"]


@pytest.fixture(params=[True, False], ids=["forked", "fresh"])
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    """One whose programs may start no others."""
    box = Box(Limits(grants=Grants(execute=False, template=request.param)), means=_MEANS)
    yield box
    box.close()


def test_a_compiler_runs_where_the_program_may_start_nothing(box: Box) -> None:
    """What it made is called in a session that cannot start it, nor anything else."""
    with box.open(_PROGRAM, "seed", 20, "build") as session:
        session.build(_LIBRARY)
        made = session.keep(["answer.so"])
    with box.open(_PROGRAM, "seed", 20) as session:
        session.place(made)
        assert [session.call("answer"), session.call("start")] == [42, errno.EPERM]


def test_a_large_request_is_read_under_the_filter(box: Box) -> None:
    """And leaves the five descriptors; the sixth is that of the folder which is listed."""
    with box.open(_PROGRAM, "seed", 20) as session:
        assert session.call("length", "x" * 1_000_000) == [1_000_000, [0, 1, 2, 3, 4, 5]]
