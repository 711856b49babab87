"""Compiled code in a process that can do nothing but compute."""

import shutil
import sys
from collections.abc import Iterator, Mapping

import pytest
from every_level import LEVELS, opened

from evolve.sandbox.box import Box
from evolve.sandbox.status import SessionFailed, Status
from evolve.sandbox.timing import NATIVE_BLOCK, Segment, native_source
from evolve.types import Program, SandboxError

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="clocks of other processes are Linux's"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]

_GLUE = """
void kernel(double *out, const double *in, long count, long trick);
void evolve_call(void **pointers, const long *numbers) {
  kernel(pointers[0], pointers[1], numbers[0], numbers[1]);
}
"""
_KERNEL = """
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
static long calls;
static void burn(void) { for (volatile long i = 0; i < 20000000; i++) {} }
void kernel(double *out, const double *in, long count, long trick) {
  calls++;
  for (long i = 0; i < count; i++) out[i] = 2 * in[i];
  switch (trick) {
    case 1: burn(); break;
    case 2: open("/etc/passwd", O_RDONLY); break;
    case 3: if (fork() == 0) burn(); break;
    case 4: mmap(0, 4096, PROT_READ, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0); break;
    case 5: _exit(0);
    case 6: *(volatile int *)0 = 1; break;
    case 7: write(4, "x", 1); write(4, "y", 1); break;
    case 8: for (;;) {}
    case 9: kill(getpid(), SIGCONT); break;
#ifdef __x86_64__
    case 10: out[0] = (double)__builtin_ia32_rdtsc(); break;
#else
    case 10: __builtin_trap();
#endif
  }
}
"""
PROGRAM = Program({"kernel.c": _KERNEL, "seed.py": "import nothing_of_the_kind\n"})
_LIBRARY = ["cc", "-std=c11", "-O1", "-Wall", "-fvisibility=hidden", "-shared", "-fPIC", "-o", "kernel.so"]


@pytest.fixture(scope="module", params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    with opened(request.param) as box:
        yield box


def built(box: Box) -> Mapping[str, bytes]:
    """The program's library, by the judge's flags and with its glue."""
    with box.open(PROGRAM, "seed", 60, "build") as session:
        session.place({"loop.c": native_source().encode(), "glue.c": _GLUE.encode()})
        session.build([*_LIBRARY, "-D_GNU_SOURCE", "loop.c", "glue.c", "kernel.c"])
        return session.keep(["kernel.so"])


def test_a_kernel_computes_in_shared_memory(box: Box) -> None:
    """Call after call, at offsets of the judge's choice; it stands still between them."""
    files = built(box)
    with Segment(1 << 16) as segment, box.open(PROGRAM, "seed", 60, "timed") as session:
        session.place(files)
        native = session.native("kernel.so", segment)
        for number in range(3):
            given, taken = NATIVE_BLOCK + 8 * number, NATIVE_BLOCK + 32_000
            segment.view(given, (1000,), "float64")[:] = number + 1
            segment.view(taken, (1000,), "float64")[:] = float("nan")
            found = native.call([taken, given], [1000])
            assert segment.view(taken, (1000,), "float64").tolist() == [2.0 * (number + 1)] * 1000
            assert (found.value, found.cpu < 0.1, found.wall > 0) == (None, True, True)
        before, busy, after = (native.call([taken, given], [0, trick]) for trick in (0, 1, 0))
        assert busy.cpu > 10 * max(before.cpu, after.cpu)
        assert busy.cpu > 100 * after.outside


@pytest.mark.parametrize(
    ("trick", "status"),
    [
        (2, Status.SIGNAL),
        (3, Status.SIGNAL),
        (4, Status.SIGNAL),
        (5, Status.NO_RESULT),
        (6, Status.SIGNAL),
        (7, Status.BAD_FRAME),
        (8, Status.TIMEOUT),
        (9, Status.SIGNAL),
        (10, Status.SIGNAL),
    ],
)
def test_a_kernel_that_does_anything_else_is_ended(
    best: Box, best_files: Mapping[str, bytes], trick: int, status: Status
) -> None:
    """By the filter that the loop has installed, or because it breaks the rules."""
    with Segment(4096) as segment, best.open(PROGRAM, "seed", 30, "timed") as session:
        session.place(best_files)
        native = session.native("kernel.so", segment)
        with pytest.raises(SessionFailed) as caught:  # noqa: PT012 it may fail at the call after it
            native.call([NATIVE_BLOCK] * 2, [0, trick], seconds=0.5 if trick == 8 else 10)
            native.call([NATIVE_BLOCK] * 2, [0, 0])
        assert caught.value.status is status


@pytest.fixture(scope="module")
def best() -> Iterator[Box]:
    with opened(LEVELS[1].values[0]) as box:
        yield box


@pytest.fixture(scope="module")
def best_files(best: Box) -> Mapping[str, bytes]:
    return built(best)


def test_nothing_else_can_be_asked_of_a_native_session(best: Box, best_files: Mapping[str, bytes]) -> None:
    """Nor a native session of one in which the program's Python has run."""
    with Segment(4096) as segment:
        with best.open(PROGRAM, "seed", 30, "timed") as session:
            session.place(best_files)
            native = session.native("kernel.so", segment)
            for ask in (lambda: session.call("f"), lambda: session.native("kernel.so", segment)):
                with pytest.raises(SandboxError, match="after a native call"):
                    ask()
            native.call([NATIVE_BLOCK] * 2, [0, 0])
        with best.open(Program({"seed.py": "def f(): return 1"}), "seed", 30, "timed") as session:
            session.timed("f")
            with pytest.raises(SandboxError, match="after a call"):
                session.native("kernel.so", segment)


@pytest.mark.parametrize(
    ("pointers", "numbers"),
    [([0], []), ([4096], []), ([-1], []), ([NATIVE_BLOCK] * 32, []), ([], [0] * 32), ([], [1 << 63])],
)
def test_what_cannot_be_passed_is_the_evaluators_error(
    best: Box, best_files: Mapping[str, bytes], pointers: list[int], numbers: list[int]
) -> None:
    """And reaches nobody."""
    with Segment(4096) as segment, best.open(PROGRAM, "seed", 30, "timed") as session:
        session.place(best_files)
        native = session.native("kernel.so", segment)
        with pytest.raises(ValueError):
            native.call(pointers, numbers)


def test_a_library_that_was_not_built_with_the_loop_is_told(best: Box) -> None:
    """Or that cannot be loaded, or is too small a segment's."""
    with Segment(4096) as segment, Segment(NATIVE_BLOCK) as small:
        for content, message in ((b"no library", "kernel.so"), (None, "has no function 'evolve_loop'")):
            with best.open(PROGRAM, "seed", 30, "build") as session:
                session.build([*_LIBRARY, "-D_GNU_SOURCE", "kernel.c"])
                files = session.keep(["kernel.so"])
            with best.open(PROGRAM, "seed", 30, "timed") as session:
                session.place(files if content is None else {"kernel.so": content})
                with pytest.raises(SessionFailed, match=message) as caught:
                    session.native("kernel.so", segment)
                assert caught.value.status is Status.NO_ENTRY
        with best.open(PROGRAM, "seed", 30, "timed") as session, pytest.raises(ValueError, match="has no room"):
            session.native("kernel.so", small)
