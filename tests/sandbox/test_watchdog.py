"""The watch over memory: on a folder that looks like /proc, and on real processes."""

import contextlib
import gc
import mmap
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.sandbox.inner.excess import MemoryWatch, apparent, measure, measure_folders
from evolve.sandbox.processes import descendants

pytestmark = pytest.mark.integration

MB = 1 << 20
NEAR = 14 * MB
"""What an interpreter needs for itself here and there."""
TEMPLATE = 10
needs_proc = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system has no smaps_rollup")


class Processes:
    """A folder that looks like /proc; sizes in MB."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.put(TEMPLATE, anonymous=100, exact=100)

    def put(self, pid: int, *, anonymous: int, shared: int = 0, swapped: int = 0, exact: int = 0) -> None:
        """A process by its running counts; `exact` is its fair part of the anonymous memory."""
        place = self.folder / str(pid)
        place.mkdir(exist_ok=True)
        counts = {"VmPeak": 9 << 20, "RssAnon": anonymous << 10, "RssFile": 7, "RssShmem": shared << 10}
        place.joinpath("status").write_text(_lines(counts | {"VmSwap": swapped << 10}))
        parts = {"Rss": 9 << 20, "Pss": (exact + shared) << 10, "Pss_Anon": exact << 10, "Pss_Shmem": shared << 10}
        place.joinpath("smaps_rollup").write_text(_lines(parts | {"SwapPss": swapped << 10}))


def _lines(sizes: dict[str, int]) -> str:
    return "Name:\tpython\n" + "".join(f"{name}:\t{size:8} kB\n" for name, size in sizes.items())


class Clock:
    """Goes on by a second with each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    """A template of 100 MB, and nothing else."""
    return Processes(tmp_path)


@pytest.fixture
def watch(processes: Processes) -> MemoryWatch:
    """A watch with a limit of 200 MB on a clock of its own."""
    return MemoryWatch(200 * MB, TEMPLATE, (), processes.folder, Clock())


def test_what_is_shared_with_the_template_is_free(processes: Processes, watch: MemoryWatch) -> None:
    """Three forks show 100 MB each, and have 1 MB of their own: the rest is divided by four."""
    for pid in (TEMPLATE, 11, 12, 13):
        processes.put(pid, anonymous=101, exact=25 if pid == TEMPLATE else 26)
    assert watch.is_exceeded([11, 12, 13]) is False
    assert measure([TEMPLATE, 11, 12, 13], (), processes.folder) == 103 * MB


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"anonymous": 201, "exact": 201}, True),
        ({"anonymous": 150, "exact": 150, "shared": 51}, True),
        ({"anonymous": 150, "exact": 150, "swapped": 51}, True),
        ({"anonymous": 150, "exact": 150, "shared": 50}, False),
        ({"anonymous": 900, "exact": 120}, False),
    ],
)
def test_anonymous_shared_and_swapped_memory_counts(
    processes: Processes, watch: MemoryWatch, sizes: dict[str, int], expected: bool
) -> None:
    """Against a limit of 200 MB."""
    processes.put(11, **sizes)
    assert watch.is_exceeded([11]) is expected


def test_below_the_limit_the_cheap_look_is_enough(processes: Processes, watch: MemoryWatch) -> None:
    """Nothing exact is even there to be read."""
    processes.put(11, anonymous=150, exact=150)
    (processes.folder / "11" / "smaps_rollup").unlink()
    (processes.folder / "11" / "smaps_rollup").mkdir()
    assert watch.is_exceeded([11]) is False
    processes.put(12, anonymous=60, exact=60)
    with pytest.raises(IsADirectoryError):
        watch.is_exceeded([11, 12])


def test_between_two_exact_looks_growth_beyond_what_was_left_is_found(processes: Processes, watch: MemoryWatch) -> None:
    """An exact look of one second is followed by a rest of nine."""
    processes.put(11, anonymous=400, exact=150)
    assert watch.is_exceeded([11]) is False
    processes.put(11, anonymous=450, exact=201)
    assert watch.is_exceeded([11]) is False, "50 MB more are within what was left"
    processes.put(11, anonymous=451, exact=201)
    assert watch.is_exceeded([11]) is True


def test_after_the_rest_it_looks_again_whatever_has_grown(processes: Processes, watch: MemoryWatch) -> None:
    """A page that was shared with the template and is now written to does not show in the running counts."""
    processes.put(11, anonymous=400, exact=150)
    assert watch.is_exceeded([11]) is False
    processes.put(11, anonymous=400, exact=300)
    assert [watch.is_exceeded([11]) for _ in range(10)] == [False] * 8 + [True, True]


def test_a_process_that_shrinks_hides_no_other_that_grows(processes: Processes, watch: MemoryWatch) -> None:
    """Each one's growth counts."""
    processes.put(11, anonymous=300, exact=100)
    processes.put(12, anonymous=300, exact=50)
    assert watch.is_exceeded([11, 12]) is False
    processes.put(11, anonymous=0)
    processes.put(12, anonymous=500, exact=250)
    assert watch.is_exceeded([11, 12]) is True


def test_a_process_that_is_gone_has_none(processes: Processes, watch: MemoryWatch) -> None:
    """Between two looks it may go."""
    assert watch.is_exceeded([99]) is False
    assert (apparent(99, processes.folder), measure([99], (), processes.folder)) == (0, 0)


def test_the_sum_alone_is_taken_where_the_kernel_tells_no_parts(processes: Processes) -> None:
    """Files in memory count then as well."""
    (processes.folder / "11").mkdir()
    (processes.folder / "11" / "smaps_rollup").write_text("Rss:   900 kB\nPss:   400 kB\nSwapPss:    8 kB\n")
    assert measure([11], (), processes.folder) == 408 << 10


def test_files_in_memory_count_and_once_where_they_are_mapped(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of 8 MB and one of 4 MB; of one that is gone there is nothing."""
    sizes = {"scratch": 8, "shm": 4}

    def statvfs(folder: str) -> SimpleNamespace:
        if folder not in sizes:
            raise FileNotFoundError(folder)
        return SimpleNamespace(f_frsize=4096, f_blocks=16 << 8, f_bfree=(16 - sizes[folder]) << 8)

    monkeypatch.setattr(os, "statvfs", statvfs)
    folders = ["scratch", "shm", "gone"]
    assert measure_folders(folders) == 12 * MB
    processes.put(11, anonymous=5, exact=5, shared=3)
    assert measure([11], folders, processes.folder) == 17 * MB
    processes.put(11, anonymous=5, exact=5, shared=13)
    assert measure([11], folders, processes.folder) == 18 * MB
    watch = MemoryWatch(17 * MB, TEMPLATE, folders, processes.folder, Clock())
    assert watch.is_exceeded([11]) is True


@given(st.dictionaries(st.integers(11, 40), st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=8))
def test_the_first_look_is_right_for_any_processes(
    tmp_path_factory: pytest.TempPathFactory, sizes: dict[int, tuple[int, int]]
) -> None:
    """With nothing shared, exceeded means that the sum is above the limit."""
    processes = Processes(tmp_path_factory.mktemp("proc"))
    watch = MemoryWatch(200 * MB, TEMPLATE, (), processes.folder, Clock())
    for pid, (anonymous, shared) in sizes.items():
        processes.put(pid, anonymous=anonymous, exact=anonymous, shared=shared)
    assert watch.is_exceeded(list(sizes)) is (sum(map(sum, sizes.values())) > 200)


@contextlib.contextmanager
def forked(*acts: Callable[[], object]) -> Iterator[list[int]]:
    """Processes that have done what they should and hold on to it."""
    done, told = os.pipe()
    pids = []
    try:
        for act in acts:
            pids.append(os.fork())
            if pids[-1] == 0:
                _hold(act, told)
        for _ in acts:
            assert os.read(done, 1) == b"."
        yield pids
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(done)
        os.close(told)


def _hold(act: Callable[[], object], told: int) -> None:
    try:
        gc.disable()  # it would write to pages that the tests' own process has
        kept = act()
        os.write(told, b".")
        signal.pause()
        os._exit(kept is None)
    finally:
        os._exit(1)


def private() -> bytearray:
    """20 MB."""
    return bytearray(b"x") * (20 * MB)


def added(pids: list[int], before: int) -> int:
    """What they have beyond what this process had."""
    return measure([os.getpid(), *pids], ()) - before


@needs_proc
def test_private_memory_of_several_processes_adds_up() -> None:
    """20 MB in each of three."""
    before = measure([os.getpid()], ())
    with forked(private, private, private) as pids:
        assert 60 * MB <= added(pids, before) < 60 * MB + NEAR
        assert all(apparent(pid) >= 20 * MB for pid in pids)


@needs_proc
def test_shared_memory_counts_once() -> None:
    """20 MB that three processes have written to together, and the one that they come from has not."""
    memory, before = mmap.mmap(-1, 20 * MB), measure([os.getpid()], ())

    def write() -> None:
        for start in range(0, len(memory), MB):  # no copy of it all
            memory[start : start + MB] = bytes(MB)

    with forked(write, write, write) as pids, contextlib.closing(memory):
        assert 20 * MB <= added(pids, before) < 20 * MB + NEAR


@needs_proc
def test_what_is_inherited_counts_for_whoever_writes_to_it() -> None:
    """30 MB: read by two children they are free, written by one of them they are its own."""
    inherited, before = bytearray(b"x") * (30 * MB), 0
    before = measure([os.getpid()], ())

    def read() -> int:
        return inherited.count(b"y")

    def write() -> None:
        inherited[:: mmap.PAGESIZE] = b"y" * (len(inherited) // mmap.PAGESIZE)

    with forked(read, read) as pids:
        assert added(pids, before) < NEAR
        assert all(apparent(pid) >= 30 * MB for pid in pids)
    with forked(read, write) as pids:
        assert 30 * MB <= added(pids, before) < 30 * MB + NEAR


@needs_proc
def test_a_watch_finds_real_processes_too_large() -> None:
    """Each is below the limit, together they are not."""
    watch = MemoryWatch(50 * MB, os.getpid())
    with forked(private, private) as pids:
        assert watch.is_exceeded(pids) is False
    with forked(private, private, private) as pids:
        assert watch.is_exceeded(pids) is True
        assert set(pids) <= set(descendants(os.getpid()))


@needs_proc
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_process_that_hides_its_maps_counts_in_full() -> None:
    """Nobody may look into it but root, who looks as somebody else here."""

    def look() -> None:
        with forked(private) as pids:
            os.seteuid(65534)
            with contextlib.suppress(PermissionError):
                Path(f"/proc/{pids[0]}/smaps_rollup").read_bytes()
                os._exit(2)
            exact, shown = measure(pids, ()), apparent(pids[0])
            os.seteuid(0)
            os.kill(pids[0], signal.SIGKILL)
            os._exit(0 if exact == shown >= 20 * MB else 3)

    pid = os.fork()
    if pid == 0:
        try:
            look()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
