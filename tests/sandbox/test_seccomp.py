"""A process enters a filter in a fork and makes calls; what they answer is what the table says, and programs go on working."""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import re
import resource
import signal
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.sandbox import kernel
from evolve.sandbox.walls import seccomp
from evolve.sandbox.walls.bpf import ALLOW, KILL, When, fail
from evolve.sandbox.walls.confinement import drop_capabilities
from evolve.sandbox.walls.seccomp import NUMBERS, Filter
from tests.confined import become_ordinary, child, outcome
from tests.interpreted import answer
from tests.sandbox.test_bpf import meant

pytestmark = pytest.mark.integration

NEEDED = pytest.mark.skipif(not seccomp.is_supported(), reason="no seccomp filter for this machine")
FILTERS = st.builds(Filter, *[st.booleans()] * 8)
CLOSED = Filter(execute=False, truncate=True, signals=True, metadata=True, processes=False)
OPEN = Filter(memfd=True, loopback=True, gpu=True)
EPERM, ENOSYS = fail(errno.EPERM), fail(errno.ENOSYS)


def filtered(wanted: Filter, act: Callable[[], Any], *, ordinary: bool = True) -> Any:
    """What `act` returns in the filter, without rights of its own."""

    def inside() -> Any:
        os.setsid()
        if ordinary:
            become_ordinary()
            drop_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.enter(seccomp.program(wanted, os.getpid()))
        return act()

    return child(inside)


def call(name: str, *arguments: object) -> str:
    """`done`, or the error's name, of a system call."""
    return outcome(kernel.syscall, name, NUMBERS[name], *arguments)


def asked(wanted: Filter, name: str, *arguments: int, own_pid: int = 0) -> int:
    """What the program answers, without a kernel."""
    program = seccomp.program(wanted, own_pid)
    return answer(program, seccomp.AUDIT_ARCH_X86_64, NUMBERS[name], arguments)[0]


@pytest.mark.parametrize("wanted", [Filter(), CLOSED, OPEN])
def test_every_known_call_stands_in_one_row(wanted: Filter) -> None:
    names = [name for names in seccomp.table(wanted) for name in names.split()]
    assert sorted(names) == sorted(NUMBERS)


ARGUMENTS = st.lists(st.integers(0, 20) | st.integers(0, 2**64 - 1), min_size=6, max_size=6)


@given(FILTERS, st.integers(0, 600), ARGUMENTS, st.integers(1, 2**22))
def test_the_program_is_the_table(wanted: Filter, number: int, arguments: list[int], own_pid: int) -> None:
    rows = {NUMBERS[name]: verdict for names, verdict in seccomp.table(wanted).items() for name in names.split()}
    verdict = rows.get(number, ENOSYS)
    if isinstance(verdict, When) and seccomp.OWN in verdict.values:
        verdict = replace(verdict, values=(0, own_pid, 2**32 - own_pid))
    program = seccomp.program(wanted, own_pid)
    assert answer(program, seccomp.AUDIT_ARCH_X86_64, number, arguments)[0] == meant(verdict, arguments)


@pytest.mark.parametrize("wanted", [Filter(), CLOSED, OPEN])
def test_no_call_takes_many_instructions(wanted: Filter) -> None:
    program = seccomp.program(wanted)
    steps = [answer(program, seccomp.AUDIT_ARCH_X86_64, number)[1] for number in NUMBERS.values()]
    assert max(steps) <= 40
    assert len(program) // 8 <= 450


@given(st.integers(max(NUMBERS.values()) + 1, seccomp.X32 - 1))
def test_calls_of_tomorrow_do_not_exist(number: int) -> None:
    assert answer(seccomp.program(OPEN), seccomp.AUDIT_ARCH_X86_64, number)[0] == ENOSYS


@given(st.integers(seccomp.X32, 2**32 - 1))
def test_the_other_set_of_calls_kills(number: int) -> None:
    assert answer(seccomp.program(OPEN), seccomp.AUDIT_ARCH_X86_64, number)[0] == KILL


@pytest.mark.parametrize(
    "flag", [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x8000, 0x2000]
)
def test_no_clone_makes_a_namespace_a_sibling_or_a_traced_process(flag: int) -> None:
    assert [asked(OPEN, "clone", flags) for flags in (flag | signal.SIGCHLD, signal.SIGCHLD)] == [EPERM, ALLOW]


@pytest.mark.parametrize("request_number", [0x5412, 0x541C, 0x40086602, 0x401C5820, 0x40806685, 0x5000940E, 0x8901])
def test_no_grant_opens_what_is_not_a_device(request_number: int) -> None:
    """TIOCSTI, TIOCLINUX, attributes of files, verity, a subvolume of btrfs, the owner of a socket; also with bits above the 32."""
    found = {asked(wanted, "ioctl", 0, request_number + high) for wanted in (Filter(), OPEN) for high in (0, 1 << 32)}
    assert found == {fail(errno.ENOTTY)}


@pytest.mark.parametrize("wanted", [Filter(), CLOSED, OPEN])
def test_no_call_evicts_a_file_or_tells_whether_it_is_in_memory(wanted: Filter) -> None:
    """Advice on files is taken and not followed, so that programs go on which give it."""
    assert [asked(wanted, name) for name in ("fadvise64", "readahead")] == [fail(0), fail(errno.EOPNOTSUPP)]
    assert {asked(wanted, name) for name in ("mincore", "cachestat", "preadv2", "pwritev2")} == {ENOSYS}
    advice: dict[int, set[int]] = {}
    for number in range(128):
        advice.setdefault(asked(wanted, "madvise", 0, 4096, number), set()).add(number)
    # Of the refused ones, Linux 6.18 knows MERGEABLE, UNMERGEABLE, COLD, PAGEOUT, POPULATE_READ, POPULATE_WRITE, DONTNEED_LOCKED, COLLAPSE.
    assert {12, 13, 20, 21, 22, 23, 24, 25} <= advice[fail(errno.EINVAL)]
    assert advice[ALLOW] == {*range(4, 12), 14, 15, *range(16, 20), 102, 103}
    assert advice[fail(0)] == {mmap.MADV_NORMAL, mmap.MADV_RANDOM, mmap.MADV_SEQUENTIAL, mmap.MADV_WILLNEED}


def test_a_read_at_a_place_goes_on_without_flags() -> None:
    """The C library falls back to the older call."""

    def read() -> tuple[int, str]:
        number = os.open("/dev/zero", os.O_RDONLY)
        return os.preadv(number, [bytearray(7)], 1), outcome(os.preadv, number, [bytearray(7)], 1, os.RWF_NOWAIT)

    assert filtered(Filter(), read) == [7, "ENOTSUP"]


def test_no_file_is_marked_by_a_hint() -> None:
    assert {asked(OPEN, "fcntl", 3, command) for command in (1036, 1040)} == {EPERM}


def test_devices_are_reached_where_they_are_granted() -> None:
    of_driver, of_memory = 0xC020462A, 0x30000001
    assert [asked(Filter(), "ioctl", 0, each) for each in (of_driver, of_memory)] == [fail(errno.ENOTTY)] * 2
    assert [asked(Filter(gpu=True), "ioctl", 0, each) for each in (of_driver, of_memory)] == [ALLOW] * 2


@pytest.mark.parametrize("domain", range(50))
def test_loopback_opens_two_domains_and_their_two_kinds(domain: int) -> None:
    open_domain = ALLOW if domain in {socket.AF_INET, socket.AF_INET6} else EPERM
    assert asked(Filter(loopback=True), "socket", domain, socket.SOCK_STREAM | socket.SOCK_CLOEXEC, 0) == open_domain
    assert asked(Filter(loopback=True), "socket", domain, socket.SOCK_DGRAM, 17) == open_domain
    assert asked(Filter(loopback=True), "socket", domain, socket.SOCK_RAW, 0) == EPERM
    assert asked(Filter(loopback=True), "socket", domain, socket.SOCK_STREAM, 262) == EPERM
    assert asked(Filter(), "socket", domain, socket.SOCK_STREAM, 0) == EPERM


@pytest.mark.parametrize("name", ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"])
def test_signals_are_held_back_to_the_own_process(name: str) -> None:
    targets = (4242, 0, -4242 & 0xFFFFFFFF, 1, 4243, -1 & 0xFFFFFFFF, -4243 & 0xFFFFFFFF)
    found = [asked(Filter(signals=True), name, target, own_pid=4242) for target in targets]
    assert found == [ALLOW, ALLOW, ALLOW, EPERM, EPERM, EPERM, EPERM]


def test_without_a_number_no_signal_leaves_the_group() -> None:
    found = [asked(Filter(signals=True), "kill", target) for target in (0, 1, 4242, seccomp.OWN)]
    assert found == [ALLOW, EPERM, EPERM, EPERM]


@pytest.mark.parametrize("machine", ["aarch64", "riscv64", "i686"])
def test_other_machines_have_no_table(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert not seccomp.is_supported()


def test_other_systems_have_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "LINUX", False)
    assert not seccomp.is_supported()


@NEEDED
def test_a_process_that_may_gain_privileges_cannot_enter() -> None:
    def act() -> object:
        become_ordinary()
        return outcome(seccomp.enter, seccomp.program(Filter()))

    assert child(act) == "EACCES"


@NEEDED
def test_every_call_that_is_denied_is_denied() -> None:
    """With arguments of 0, so that nothing happens where one is not."""
    denied = {
        name: verdict & 0xFFFF
        for names, verdict in seccomp.table(CLOSED).items()
        if not isinstance(verdict, When) and verdict != ALLOW
        for name in names.split()
    }
    expected = {name: errno.errorcode[number] if number else "done" for name, number in denied.items()}
    assert filtered(CLOSED, lambda: {name: call(name, 0, 0, 0, 0, 0, 0) for name in denied}) == expected


@NEEDED
@pytest.mark.parametrize("number", [NUMBERS["getpid"] + seccomp.X32, 520 + seccomp.X32])
def test_the_x32_calls_end_the_process(number: int) -> None:
    assert filtered(OPEN, lambda: outcome(kernel.syscall, "x32", number)) == "SIGSYS"


@NEEDED
def test_the_32_bit_calls_end_the_process() -> None:
    """`int 0x80` with 20, which is getpid there."""

    def act() -> object:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(b"\x6a\x14\x58\xcd\x80\xc3")
        start = ctypes.addressof(ctypes.c_char.from_buffer(page))
        return ctypes.CFUNCTYPE(ctypes.c_int)(start)()

    assert filtered(OPEN, act) == "SIGSYS"


@NEEDED
def test_sockets_are_closed_and_pairs_are_open() -> None:
    def act() -> object:
        kinds = [
            (socket.AF_INET, 1),
            (socket.AF_INET6, 2),
            (socket.AF_UNIX, 1),
            (socket.AF_NETLINK, 3),
            (40, 1),
            (17, 3),
        ]
        pairs = [outcome(socket.socketpair, socket.AF_UNIX, kind) for kind in (1, 2, 3, 5)]
        return [[outcome(socket.socket, *kind) for kind in kinds], pairs]

    assert filtered(Filter(), act) == [["EPERM"] * 6, ["done", "EPERM", "EPERM", "done"]]


@NEEDED
def test_a_granted_loopback_carries() -> None:
    def act() -> object:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as there:
            there.connect(server.getsockname())
            here, _ = server.accept()
            there.sendall(b"word")
            return here.recv(4).decode()

    assert filtered(Filter(loopback=True), act) == "word"


@NEEDED
def test_files_in_memory_are_granted_or_not() -> None:
    act = lambda: [outcome(os.memfd_create, "x"), outcome(os.memfd_create, "x", 0x10)]  # noqa: E731
    assert [filtered(wanted, act) for wanted in (Filter(), Filter(memfd=True))] == [["EPERM"] * 2, ["done", "EPERM"]]


@NEEDED
def test_nothing_is_executed_where_it_is_not_granted() -> None:
    act = lambda: [outcome(os.execv, "/bin/true", ["true"]), outcome(os.posix_spawn, "/bin/true", ["true"], {})]  # noqa: E731
    assert filtered(Filter(execute=False), act) == ["EPERM", "EPERM"]


@NEEDED
def test_reading_does_not_truncate_where_the_filter_holds_it_back(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("whole")

    def act() -> object:
        no_access = 3
        opened = [outcome(os.open, file, flags | os.O_TRUNC) for flags in (os.O_RDONLY, no_access)]
        return [*opened, outcome(os.truncate, file, 0)]

    assert filtered(Filter(truncate=True), act, ordinary=False) == ["EACCES"] * 3
    assert file.read_text() == "whole"
    rewritten = filtered(Filter(truncate=True), lambda: file.write_text("new"), ordinary=False)
    assert (rewritten, file.read_text()) == (3, "new")


@NEEDED
def test_other_processes_get_no_signal_where_the_filter_holds_it_back() -> None:
    """Signal 0 only asks whether one could be sent; and none is set off by way of a descriptor."""
    parent = os.getpid()

    def act() -> object:
        here, _ = os.pipe()
        owner = struct.pack("ii", 1, parent)
        return {
            "parent": outcome(os.kill, parent, 0),
            "self": outcome(os.kill, os.getpid(), 0),
            "group": outcome(os.killpg, os.getpgrp(), 0),
            "thread": call("tgkill", parent, parent, 0),
            "descriptor": outcome(signal.pidfd_send_signal, os.pidfd_open(parent), 0),
            "owner": outcome(fcntl.fcntl, here, fcntl.F_SETOWN, parent),
            "owner, extended": outcome(fcntl.fcntl, here, 15, owner),
        }

    open_ones = ["self", "group"]
    found = filtered(Filter(signals=True), act, ordinary=False)
    assert {name: "done" if name in open_ones else "EPERM" for name in found} == found


@NEEDED
def test_a_process_still_aborts_itself() -> None:
    assert filtered(Filter(signals=True), os.abort) == "SIGABRT"


@NEEDED
def test_threads_are_no_processes() -> None:
    """Of which none can be started where they are not granted, by whatever call."""

    def act() -> list[str]:
        threads: list[str] = []
        thread = threading.Thread(target=threads.append, args=("done",))
        thread.start()
        thread.join()
        vfork = outcome(os.posix_spawn, "/bin/true", ["true"], {})
        return [*threads, outcome(os.fork), vfork, call("clone", signal.SIGCHLD)]

    assert filtered(Filter(processes=False), act) == ["done", *["EPERM"] * 3]


@NEEDED
@pytest.mark.parametrize(("wanted", "mode"), [(Filter(), 0o600), (Filter(metadata=True), 0o644)])
def test_modes_are_not_changed_where_the_filter_holds_it_back(wanted: Filter, mode: int, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    file.chmod(0o644)

    def act() -> object:
        with file.open() as held:
            os.fchmod(held.fileno(), 0o600)
        file.chmod(0o600)
        os.chown(file, -1, -1)
        return file.read_text()

    before = file.stat().st_mtime
    assert filtered(wanted, act, ordinary=False) == "mine"
    assert filtered(Filter(metadata=True), lambda: os.utime(file, (1, 1)), ordinary=False) is None
    assert (mode, before) == (file.stat().st_mode & 0o777, file.stat().st_mtime)


@NEEDED
def test_limits_of_others_and_priorities_are_out_of_reach() -> None:
    def act() -> object:
        return [
            outcome(resource.prlimit, os.getppid(), resource.RLIMIT_NOFILE),
            outcome(resource.getrlimit, resource.RLIMIT_NOFILE),
            outcome(os.sched_setaffinity, 0, {0}),
            outcome(os.nice, 1),
            outcome(os.setpriority, os.PRIO_USER, 0, 19),
            outcome(os.sched_getaffinity, 0),
        ]

    assert filtered(Filter(), act) == ["EPERM", "done", "EPERM", "EPERM", "EPERM", "done"]


@NEEDED
def test_more_filters_may_be_added_but_none_that_others_answer() -> None:
    def act() -> object:
        seccomp.enter(seccomp.program(CLOSED))
        return call("seccomp", 1, 8, ctypes.c_void_p())

    assert filtered(Filter(), act) == "EPERM"


_HEADERS = [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")]


def test_the_numbers_are_those_of_the_headers() -> None:
    header = next((path for path in _HEADERS if path.exists()), None)
    if header is None:
        pytest.skip("no headers of x86_64 on this machine")
    told = dict(re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()))
    assert {name: int(number) for name, number in told.items() if name in NUMBERS} == {
        name: number for name, number in NUMBERS.items() if name in told
    }
    assert {name for name in told if name not in NUMBERS and int(told[name]) <= 471} <= {"uretprobe", "uprobe"}


@pytest.mark.parametrize(
    ("name", "number"),
    [("read", 0), ("rseq", 334), ("pidfd_send_signal", 424), ("futex_waitv", 449), ("mseal", 462), ("listns", 470)],
)
def test_both_runs_begin_and_end_where_they_should(name: str, number: int) -> None:
    assert NUMBERS[name] == number
