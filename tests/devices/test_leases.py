"""Devices that are granted, stages that lease them, and locks that processes compete for: nobody has what another one has, nobody waits for ever, and
the end of a process is the end of its locks."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from nvidia_fakes import GPUS, UUIDS

from evolve.devices.leases import (
    Grant,
    Holder,
    Lease,
    Leases,
    LockPool,
    Locks,
    filter_gpus,
    format_needs,
    holders,
    leases_folder,
    parse,
)
from evolve.types import ConfigError, Needs, SandboxError

CORES = range(8)


@pytest.mark.parametrize(
    ("words", "grant"),
    [
        ((), Grant()),
        (("cpu",), Grant(tuple(CORES), ())),
        (("cpu:0-2,5",), Grant((0, 1, 2, 5), ())),
        (("gpu",), Grant(None, UUIDS)),
        (("gpu:1,0",), Grant(None, (UUIDS[1], UUIDS[0]))),
        ((UUIDS[1],), Grant(None, (UUIDS[1],))),
        (("gpu:0", "cpu:0-1,4"), Grant((0, 1, 4), (UUIDS[0],))),
        (("gpu:0", "gpu:0", "cpu:7"), Grant((7,), (UUIDS[0],))),
    ],
)
def test_words_grant_what_they_name(words: tuple[str, ...], grant: Grant) -> None:
    """Words about cores alone grant no GPU; words about GPUs alone grant all cores."""
    assert parse(words, GPUS, CORES) == grant


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("cpu:8", "there is no core 8 here, but 0-7"),
        ("cpu:1-x", "numbers are written like 0-3,8, got '1-x'"),
        ("gpu:2-3", "there is no GPU 2-3 here, but 0-1"),
        ("gpu:one", "numbers are written like"),
        ("tpu", "--devices tpu: there is no such device"),
        ("0", "--devices 0: there is no such device"),
        ("GPU-gone", "--devices GPU-gone: there is no such device"),
        (",", "--devices ,: there is no such device"),
        ("gpu:0,cpu:0", "numbers are written like"),
    ],
)
def test_a_word_that_names_nothing_is_an_error(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        parse([word], GPUS, CORES)
    assert "Try: " in str(raised.value)


def test_without_a_gpu_none_can_be_granted() -> None:
    with pytest.raises(ConfigError, match="no GPU was found on this machine"):
        parse(["gpu"], (), CORES)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (None, (0, 1)),
        ("", ()),
        ("-1", ()),
        ("1", (1,)),
        ("1,0", (0, 1)),
        (UUIDS[0], (0,)),
        ("GPU-bbbb", (1,)),
        ("0,7,1", (0,)),
    ],
)
def test_without_words_the_variable_of_cuda_says_which(told: str | None, found: tuple[int, ...]) -> None:
    """As for CUDA, nothing counts behind a name that is no device's."""
    environment = {} if told is None else {"CUDA_VISIBLE_DEVICES": told}
    assert filter_gpus(GPUS, Grant(), environment) == [GPUS[index] for index in found]


def test_words_come_before_the_variable() -> None:
    assert filter_gpus(GPUS, Grant(gpus=(UUIDS[1],)), {"CUDA_VISIBLE_DEVICES": "0"}) == [GPUS[1]]


UNITS = {0: (0, 4), 1: (1, 5), 2: (2, 6)}


class Impatient(Exception):
    """Raised instead of waiting."""


def refused() -> None:
    raise Impatient


def leases(folder: Path) -> Leases:
    """Three cores with two threads each, and two GPUs."""
    return Leases(GPUS, UNITS, folder)


@pytest.mark.parametrize(
    ("needs", "lease", "held"),
    [
        (Needs(), Lease(), set()),
        (Needs(cores=2), Lease((0, 1)), {"core-0", "core-1"}),
        (Needs(cores=5), Lease((0, 1, 2, 4, 5)), {"core-0", "core-1", "core-2"}),
        (Needs(gpus=1), Lease((), GPUS[:1]), {f"gpu-{GPUS[0].uuid}"}),
        (Needs(gpus=2), Lease((), GPUS), {f"gpu-{gpu.uuid}" for gpu in GPUS}),
        (Needs(pinned=True), Lease((0,)), {"core-0"}),
        (Needs(exclusive=True), Lease((0,)), {"machine"}),
        (Needs(exclusive=True, pinned=True), Lease((0,)), {"machine"}),
        (Needs(2, 1, True), Lease((0, 1), GPUS[:1]), {"machine", f"gpu-{GPUS[0].uuid}"}),
    ],
)
def test_a_stage_leases_what_it_needs_and_gives_it_back(
    tmp_path: Path, needs: Needs, lease: Lease, held: set[str]
) -> None:
    """One core like any other is no lease; cores are leased whole."""
    with leases(tmp_path).lease(needs, "task t, stage s", refused) as taken:
        assert taken == lease
        assert set(holders(tmp_path)) == held
    assert holders(tmp_path) == {}


def test_two_stages_never_have_the_same_gpu_or_core(tmp_path: Path) -> None:
    with (
        leases(tmp_path).lease(Needs(1, 1), "one") as one,
        leases(tmp_path).lease(Needs(2, 1), "other", refused) as other,
    ):
        assert (one.gpus, other.gpus) == (GPUS[:1], GPUS[1:])
        with pytest.raises(Impatient), leases(tmp_path).lease(Needs(gpus=1), "third", refused):
            pass
        with pytest.raises(Impatient), leases(tmp_path).lease(Needs(cores=2), "third", refused):
            pass
        with leases(tmp_path).lease(Needs(), "any", refused):
            pass


@pytest.mark.parametrize("needs", [Needs(gpus=3), Needs(cores=7)])
def test_more_than_there_is_is_an_error_and_nothing_that_is_waited_for(tmp_path: Path, needs: Needs) -> None:
    with pytest.raises(SandboxError, match=r"6 cores and 2 GPUs may be leased here. Try: grant more"):
        leases(tmp_path).lease(needs, "too much").__enter__()


def test_a_lease_is_named_by_its_gpus() -> None:
    assert [Lease().device, Lease(gpus=GPUS[:1]).device, Lease(gpus=GPUS).device] == [
        "cpu",
        "Fake H100 80GB",
        "2 x Fake H100 80GB",
    ]


def test_needs_are_written_as_a_person_reads_them() -> None:
    assert [format_needs(needs) for needs in (Needs(), Needs(4, 1), Needs(1, 2, True))] == [
        "1 core",
        "4 cores, 1 GPU",
        "1 core, 2 GPUs, the machine to itself",
    ]


ONE = LockPool(("a",), 1)
ANY = LockPool(("a", "b"), 1)
BOTH = LockPool(("a", "b"), 2)

# Takes turns: in each, it adds one to the counter of every lock that it has, by reading and writing it, so that no turn is lost only where nobody else has the lock.
COMPETITOR = """
import json, sys
from contextlib import ExitStack
from pathlib import Path
from evolve.devices.leases import Locks, LockPool

folder, counters, turns = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
locks, counted = Locks(folder), dict()
print("ready", flush=True)
sys.stdin.readline()
for number in range(120):
    names, count, alone = turns[number % len(turns)]
    with locks.acquire([LockPool(tuple(names), count)], "turn", alone=alone) as taken:
        for name in [*taken, *(["machine"] if alone else [])]:
            counter = counters / name
            value = int(counter.read_text() or "0")
            counter.write_text(str(value + 1))
            counted[name] = counted.get(name, 0) + 1
print(json.dumps(counted))
"""
HOLDER = """
import sys, time
from pathlib import Path
from evolve.devices.leases import Locks, LockPool
with Locks(Path(sys.argv[1])).acquire([LockPool(("a",), 1)], "task t, stage s", alone=True):
    print("held", flush=True)
    time.sleep(60)
"""


def started(script: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def has_to_wait(locks: Locks, *pools: LockPool, alone: bool = False) -> bool:
    """Whether others have what is wanted."""
    try:
        with locks.acquire(pools, "mine", alone=alone, waits=refused):
            return False
    except Impatient:
        return True


@pytest.mark.integration
@pytest.mark.parametrize(
    "turns",
    [
        [[["a", "b"], 1, False]],
        [[["a", "b"], 2, False], [["b", "a"], 1, False]],
        [[["a", "b"], 2, True], [["b", "c"], 2, False], [["c", "a"], 2, False], [[], 0, True], [[], 0, False]],
    ],
    ids=["any of two", "both of two", "overlapping, and the machine alone"],
)
def test_processes_that_compete_never_have_the_same_and_all_come_to_an_end(tmp_path: Path, turns: object) -> None:
    """In whatever order they want what others want too: two processes with the same turns, begun at different ones."""
    locks, counters = tmp_path / "locks", tmp_path / "counters"
    locks.mkdir()
    counters.mkdir()
    for name in ("a", "b", "c", "machine"):
        (counters / name).write_text("0")
    assert isinstance(turns, list)
    orders = (turns, [*turns[1:], turns[0]])
    processes = [started(COMPETITOR, str(locks), str(counters), json.dumps(order)) for order in orders]
    assert [line(process) for process in processes] == ["ready", "ready"]
    told = [process.communicate("go\n", timeout=60)[0] for process in processes]
    counted = [json.loads(text) for text in told]
    for name in ("a", "b", "c", "machine"):
        assert int((counters / name).read_text()) == sum(one.get(name, 0) for one in counted), name
    assert holders(locks) == {}


@pytest.mark.integration
def test_the_locks_of_a_process_that_is_killed_are_free(tmp_path: Path) -> None:
    """However it ends; until then it is told who has them."""
    holder = started(HOLDER, str(tmp_path))
    assert line(holder) == "held"
    held = holders(tmp_path)
    assert {name: (one.pid, one.what) for name, one in held.items()} == {
        "a": (holder.pid, "task t, stage s"),
        "machine": (holder.pid, "task t, stage s"),
    }
    assert has_to_wait(Locks(tmp_path), ONE)
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    with Locks(tmp_path).acquire([ONE], "mine", alone=True, waits=refused) as taken:
        assert taken == {"a"}


def test_a_part_is_never_held_while_the_rest_is_waited_for(tmp_path: Path) -> None:
    with Locks(tmp_path).acquire([ONE], "first", alone=False):
        assert has_to_wait(Locks(tmp_path), BOTH)
        assert set(holders(tmp_path)) == {"a"}


def test_any_free_one_is_taken(tmp_path: Path) -> None:
    first, second = Locks(tmp_path), Locks(tmp_path)
    with (
        first.acquire([ANY], "first", alone=False) as one,
        second.acquire([ANY], "second", alone=False, waits=refused) as other,
    ):
        assert (one, other) == ({"a"}, {"b"})


def test_many_share_the_machine_and_one_has_it_alone(tmp_path: Path) -> None:
    one, other, third = Locks(tmp_path), Locks(tmp_path), Locks(tmp_path)
    with one.acquire([], "one", alone=False), other.acquire([], "other", alone=False, waits=refused):
        assert has_to_wait(third, alone=True)
    with Locks(tmp_path).acquire([], "third", alone=True, waits=refused):
        assert has_to_wait(one)
    with one.acquire([], "one", alone=False, waits=refused):
        assert holders(tmp_path) == {}


def test_who_wants_the_machine_alone_is_not_overtaken(tmp_path: Path) -> None:
    """It closes the gate: who comes later waits for it, and who was there ends."""
    sharing, alone, later = Locks(tmp_path), Locks(tmp_path), Locks(tmp_path)
    waits, has_it, done = threading.Event(), threading.Event(), threading.Event()

    def wanting() -> None:
        with alone.acquire([], "alone", alone=True, waits=waits.set):
            has_it.set()
            done.wait(30)

    thread = threading.Thread(target=wanting)
    with sharing.acquire([], "sharing", alone=False):
        thread.start()
        assert waits.wait(30)
        assert has_to_wait(later)
        assert not has_it.is_set()
    assert has_it.wait(30)
    done.set()
    thread.join(30)


def test_a_file_that_was_removed_is_no_lock_for_who_comes_later(tmp_path: Path) -> None:
    """As cleaners of temporary folders do: what is taken then is the file that others find."""
    kept = Locks(tmp_path)
    with kept.acquire([], "before", alone=False):
        pass
    for file in tmp_path.iterdir():
        file.unlink()
    with kept.acquire([], "after", alone=True):
        assert has_to_wait(Locks(tmp_path))


def test_a_lock_that_nobody_has_signed_yet_is_held_all_the_same(tmp_path: Path) -> None:
    with Locks(tmp_path).acquire([ONE], "what", alone=False):
        (tmp_path / "a.lease").write_text("{")
        assert holders(tmp_path) == {"a": Holder("a")}
    assert holders(tmp_path) == {}


def test_a_folder_that_is_gone_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"cannot be taken.*Try: make"):
        has_to_wait(Locks(tmp_path / "none"))


def test_files_are_closed_with_the_locks(tmp_path: Path) -> None:
    """No descriptor is left by fifty turns, nor by the end."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    locks = Locks(tmp_path)
    for _ in range(50):
        with locks.acquire([ANY], "turn", alone=False):
            pass
        with locks.acquire([ONE], "outer", alone=False):
            assert has_to_wait(Locks(tmp_path), BOTH)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_all_engines_of_a_user_look_in_the_same_folder() -> None:
    """Nobody else may write there."""
    folder = leases_folder()
    assert folder == leases_folder()
    assert folder.stat().st_mode & 0o077 == 0
