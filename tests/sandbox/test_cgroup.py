"""Control groups: those of this machine, and those of version 2 on a folder that looks like one."""

import contextlib
import gc
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evolve.sandbox.machine.host import try_cgroup
from evolve.sandbox.walls import cgroup
from evolve.sandbox.walls.cgroup import ControlGroup, places

pytestmark = pytest.mark.integration

MB = 1 << 20
TASKS = 20
UNIFIED = Path("/sys/fs/cgroup/unified")
KIND = try_cgroup()[0]
needs_groups = pytest.mark.skipif(not KIND, reason=f"this machine lets us make none: {try_cgroup()[1]}")
_MAKER = """
import sys
from evolve.sandbox.walls.cgroup import ControlGroup
group = ControlGroup.make(sys.argv[1], 100 << 20, 20)
print(len(group._nodes), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def made() -> Iterator[Callable[..., ControlGroup]]:
    """Makes groups that are closed at the end."""
    with contextlib.ExitStack() as opened:

        def make(memory: int = 100 * MB, tasks: int = TASKS) -> ControlGroup:
            group = ControlGroup.make(KIND, memory, tasks)
            opened.callback(group.close)
            return group

        yield make


def ended(group: ControlGroup | None, act: Callable[[], None]) -> int:
    """How a forked process ends that enters the group and acts: 0 when all went well, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        try:
            gc.disable()  # it would write to pages of the tests' own, which then count here
            if group is not None:
                group.add()
            Path("/proc/self/oom_score_adj").write_text("1000")
            act()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def touched(size: int) -> bytearray:
    """So much memory, all of it in use."""
    return bytearray(b"x") * size


def shared(size: int) -> mmap.mmap:
    """So much shared anonymous memory, all of it in use."""
    memory = mmap.mmap(-1, size)
    for _ in range(size // MB):
        memory.write(bytes(MB))
    return memory


def folders(pid: int, tree: Path = Path("/sys/fs/cgroup")) -> set[Path]:
    """The groups that a process has made and that are still there."""
    parents = {parent for place in places(tree) for parent in place.parents}
    return {folder for parent in parents for folder in parent.glob(f"evolve-{pid}-*")}


def of(pid: int) -> str:
    """The groups of a process."""
    return Path(f"/proc/{pid}/cgroup").read_text()


def test_what_is_tried_is_gone() -> None:
    """There is a kind, or a reason why there is none."""
    assert (try_cgroup()[0] != "") is (try_cgroup()[1] == "")
    assert folders(os.getpid()) == set()


@needs_groups
@pytest.mark.parametrize("allocate", [touched, shared], ids=["private", "shared"])
def test_a_process_above_the_limit_is_ended(
    made: Callable[..., ControlGroup], allocate: Callable[[int], object]
) -> None:
    """The kill is told once; what stays below is left alone."""
    group = made(40 * MB)
    assert ended(group, lambda: allocate(20 * MB) and None) == 0
    assert group.is_exceeded() is False
    assert ended(group, lambda: allocate(80 * MB) and None) == -signal.SIGKILL
    assert [group.is_exceeded(), group.is_exceeded()] == [True, False]


@needs_groups
def test_many_small_processes_are_counted_together(made: Callable[..., ControlGroup]) -> None:
    """Each of four is below the limit, all of them are not."""
    group = made(50 * MB)

    def family() -> None:
        for _ in range(4):
            if os.fork() == 0:
                held = touched(20 * MB)
                time.sleep(20)
                os._exit(len(held) and 0)
        os._exit(0 if os.waitstatus_to_exitcode(os.wait()[1]) == -signal.SIGKILL else 3)

    assert ended(group, family) in (0, -signal.SIGKILL)
    assert group.is_exceeded() is True


@needs_groups
def test_what_was_there_before_the_entry_is_not_counted_until_it_is_written(made: Callable[..., ControlGroup]) -> None:
    """A template's preloaded memory is free for all who only read it."""
    group, preloaded = made(30 * MB), touched(60 * MB)
    assert ended(group, lambda: preloaded.count(b"y") and None) == 0
    assert ended(group, lambda: preloaded.translate(None) and None) == -signal.SIGKILL
    assert group.is_exceeded() is True


@needs_groups
def test_no_more_tasks_than_allowed(made: Callable[..., ControlGroup]) -> None:
    """The process itself counts as one."""
    if len(next(iter(places())).parents) < 2 and KIND == "v1":
        pytest.skip("this machine has no groups for processes")

    def bomb() -> None:
        children = []
        with contextlib.suppress(BlockingIOError):
            while len(children) < TASKS:
                children.append(os.fork())
                if children[-1] == 0:
                    time.sleep(20)
        os._exit(len(children))

    group = made(tasks=5)
    assert ended(group, bomb) == 4


@needs_groups
def test_closing_ends_whoever_is_inside(made: Callable[..., ControlGroup]) -> None:
    """Daemons too; and it may be done twice."""
    group = made()
    read, write = os.pipe()

    def daemonize() -> None:
        if os.fork() == 0:
            os.setsid()
            os.write(write, str(os.getpid()).encode())
            time.sleep(60)
        os._exit(0)

    assert ended(group, daemonize) == 0
    pid = int(os.read(read, 20))
    assert "evolve-" in of(pid)
    group.close()
    group.close()
    assert not Path(f"/proc/{pid}/status").exists() or "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    assert folders(os.getpid()) == set()
    os.close(read)
    os.close(write)


@needs_groups
def test_a_member_that_closes_its_group_leaves_it() -> None:
    """Where template and maker are one process."""

    def enter_and_close() -> None:
        before = of(os.getpid())
        group = ControlGroup.make(KIND, 100 * MB, TASKS)
        group.add()
        inside = of(os.getpid())
        group.close()
        os._exit(0 if "evolve-" in inside and of(os.getpid()) == before and not folders(os.getpid()) else 3)

    assert ended(None, enter_and_close) == 0


@needs_groups
def test_a_group_leaves_no_descriptor() -> None:
    """However it ends."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        ControlGroup.make(KIND, 100 * MB, TASKS).close()
    with pytest.raises(OSError):
        ControlGroup.make(KIND, -(1 << 20), TASKS)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert folders(os.getpid()) == set()


@needs_groups
def test_sweeping_leaves_what_somebody_holds() -> None:
    """Another engine's group stays until that engine is gone, however it went."""
    words = [sys.executable, "-c", _MAKER, KIND]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as maker:
        assert maker.stdout is not None
        count = int(maker.stdout.readline())
        cgroup.sweep()
        assert len(folders(maker.pid)) == count
        maker.kill()
        maker.wait()
        assert len(folders(maker.pid)) == count
        cgroup.sweep()
        assert folders(maker.pid) == set()


@needs_groups
def test_sweeping_while_groups_are_made_disturbs_nobody() -> None:
    """Several slots start at once, and each sweeps first."""

    def live() -> None:
        for _ in range(50):
            group = ControlGroup.make(KIND, 100 * MB, TASKS)
            cgroup.sweep()
            group.add()
            group.close()
        os._exit(0)

    pids = []
    for _ in range(3):
        pids.append(os.fork())
        if pids[-1] == 0:
            try:
                live()
            finally:
                os._exit(1)
    assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids] == [0, 0, 0]


@needs_groups
def test_sweeping_does_not_go_by_the_number_in_the_name() -> None:
    """Process 1 lives, but it is not this group's; what was left in the group is ended."""
    stale = next(iter(places())).parents[0] / f"evolve-1-{os.getpid()}"
    stale.mkdir()
    with subprocess.Popen(["sleep", "60"]) as left:
        (stale / "cgroup.procs").write_text(str(left.pid))
        cgroup.sweep()
        assert left.wait(10) == -signal.SIGKILL
    assert not stale.exists()


@pytest.mark.skipif(not os.access(UNIFIED / "cgroup.procs", os.W_OK), reason="needs a writable tree of version 2")
def test_what_is_left_is_ended_at_one_blow_in_version_2() -> None:
    """By the file that the kernel has for it."""
    stale = UNIFIED / f"evolve-1-{os.getpid()}"
    stale.mkdir()
    with contextlib.ExitStack() as opened:
        left = [opened.enter_context(subprocess.Popen(["sleep", "60"])) for _ in range(3)]
        for process in left:
            (stale / "cgroup.procs").write_text(str(process.pid))
        cgroup.sweep(tree=UNIFIED)
        assert [process.wait(10) for process in left] == [-signal.SIGKILL] * 3
    assert not stale.exists()


@pytest.mark.skipif(not (UNIFIED / "cgroup.controllers").exists(), reason="needs a tree of version 2 beside version 1")
def test_a_tree_whose_memory_is_elsewhere_is_refused() -> None:
    """Its memory controller is with version 1."""
    assert try_cgroup(tree=UNIFIED)[0] == ""
    assert "no control group can be used" in try_cgroup(tree=UNIFIED)[1]


def test_a_system_without_groups_says_so(tmp_path: Path) -> None:
    """And so does making one."""
    assert try_cgroup(tree=tmp_path)[0] == ""
    assert try_cgroup(tree=tmp_path)[1] == f"the system has no control groups for memory below {tmp_path}"
    assert cgroup.sweep(tree=tmp_path) == 0
    with pytest.raises(OSError, match="no control groups of kind 'v1'"):
        ControlGroup.make("v1", MB, TASKS, tree=tmp_path)


def test_a_folder_that_is_no_group_is_given_up(tmp_path: Path) -> None:
    """Nothing is left in it."""
    (tmp_path / "memory").mkdir()
    own = tmp_path / "own"
    own.write_text("4:memory:/\n")
    assert "cgroup.procs" in try_cgroup(tmp_path, own)[1]
    assert list((tmp_path / "memory").iterdir()) == []


@needs_groups
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_who_may_make_none_is_told_why() -> None:
    """Nobody's groups are those of root here."""

    def ask() -> None:
        os.setuid(65534)
        os._exit(0 if try_cgroup()[0] == "" and "Permission denied" in try_cgroup()[1] else 3)

    assert ended(None, ask) == 0


class RootTree:
    """A folder that plays the kernel's part for version 2: a new group has its files, and is removed with them."""

    FILES = ("cgroup.procs", "cgroup.subtree_control", "memory.max", "memory.swap.max", "pids.max", "memory.events")

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root / "cgroup"
        self.own = root / "own"
        self._mkdir, self._rmdir = Path.mkdir, os.rmdir
        monkeypatch.setattr(Path, "mkdir", lambda folder: self._made(folder))
        monkeypatch.setattr(os, "rmdir", self._removed)
        self.root.mkdir()
        (self.root / "cgroup.controllers").write_text("memory pids\n")

    def group(self, path: str, limit: str = "max") -> Path:
        """A group, as the process's own."""
        folder = self.root
        for name in path.split("/"):
            folder /= name
            if not folder.exists():
                folder.mkdir()
        (folder / "memory.max").write_text(f"{limit}\n")
        self.own.write_text(f"1:name=systemd:/elsewhere\n0::/{path}\n")
        return folder

    def _made(self, folder: Path) -> None:
        self._mkdir(folder)
        for name in self.FILES:
            (folder / name).touch()

    def _removed(self, name: str, *, dir_fd: int | None = None) -> None:
        place = os.open(name, os.O_RDONLY, dir_fd=dir_fd)
        for file in os.listdir(place):  # noqa: PTH208 a descriptor has no path
            os.unlink(file, dir_fd=place)
        os.close(place)
        self._rmdir(name, dir_fd=dir_fd)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RootTree:
    """An empty one."""
    return RootTree(tmp_path, monkeypatch)


def test_a_group_of_version_2_has_its_limits_and_no_swap(tree: RootTree) -> None:
    """And its parent hands on both controllers."""
    home = tree.group("app.slice")
    group = ControlGroup.make("v2", 100 * MB, TASKS, tree.root, tree.own)
    (folder,) = home.glob("evolve-*")
    group.add(1234)
    read = {name: (folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs")}
    assert read == {"memory.max": "104857600", "memory.swap.max": "0", "pids.max": "20", "cgroup.procs": "1234"}
    assert (home / "cgroup.subtree_control").read_text() == "+pids"
    group.close()


def test_a_kill_is_told_once_in_version_2(tree: RootTree) -> None:
    """By the file of events, whose other lines say nothing of kills."""
    home = tree.group("app.slice")
    group = ControlGroup.make("v2", MB, TASKS, tree.root, tree.own)
    (events,) = home.glob("evolve-*/memory.events")
    looks = []
    for kills in (0, 1, 1, 3):
        events.write_text(f"low 0\nhigh 0\nmax 7\noom 5\noom_kill {kills}\noom_group_kill 0\n")
        looks.append(group.is_exceeded())
    assert looks == [False, True, False, True]
    group.close()
    assert list(home.glob("evolve-*")) == []


def test_where_the_own_group_may_not_the_one_above_is_tried(tree: RootTree) -> None:
    """A group that has members cannot limit groups inside: what stands here for the refusal is a control file that cannot be written."""
    home = tree.group("app.slice/term.scope")
    (home / "cgroup.subtree_control").unlink()
    (home / "cgroup.subtree_control").mkdir()
    group = ControlGroup.make("v2", MB, TASKS, tree.root, tree.own)
    assert len(list(home.parent.glob("evolve-*"))) == 1
    group.close()
    assert (home / "cgroup.procs").read_text() == "0", "the process that leaves goes home"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (("max", "max"), ["a/b", "a", ""]),
        (("max", "1073741824"), ["a/b"]),
        (("2147483648", "max"), ["a/b", "a"]),
    ],
)
def test_no_limit_from_outside_is_left_behind(tree: RootTree, limits: tuple[str, str], expected: list[str]) -> None:
    """The limits of a, and of b in it, where the process is."""
    tree.group("a", limits[0])
    tree.group("a/b", limits[1])
    found = [place.parents[0].relative_to(tree.root) for place in places(tree.root, tree.own)]
    assert found == [Path(path) for path in expected]


@pytest.mark.parametrize("path", ["/../../outside", "/docker/0123"])
def test_a_path_that_means_nothing_here_is_the_root(tree: RootTree, path: str) -> None:
    """As a container sees it."""
    tree.own.write_text(f"0::{path}\n")
    assert [place.homes for place in places(tree.root, tree.own)] == [(tree.root,)]
