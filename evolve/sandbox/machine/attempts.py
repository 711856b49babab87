"""Small attacks on the machine at hand, one for each thing that a level of isolation promises.

The text of this file is the program of a candidate, whose Python may be another one: standard library only. The first line of a function's
docstring names what it attempts; it returns true where it succeeds, and a refusal is an error or false. Each is harmless where it succeeds."""

import ctypes
import os
import socket
from collections.abc import Callable, Mapping
from typing import Any

Attempt = Callable[[Mapping[str, Any]], object]
_LIBC = ctypes.CDLL(None, use_errno=True)
_VSOCK = 40
_NEW_USER_NAMESPACE = 0x10000000
_GET_SECCOMP, _GET_NO_NEW_PRIVILEGES = 21, 39
_IO_URING_SETUP = 425
_PRIVATE_KEY, _CREATE, _REMOVE = 0, 0o1600, 0


def run_for_ever(target: Mapping[str, Any]) -> object:
    """run longer than it may"""
    while True:
        pass


def take_memory(target: Mapping[str, Any]) -> object:
    """take twice the memory that it may have"""
    return bytearray(2 * target["memory"])


def read_file(target: Mapping[str, Any]) -> object:
    """read a file of the host"""
    with open(target["file"], "rb") as file:
        return file.read()


def write_file(target: Mapping[str, Any]) -> object:
    """write into a file of the host"""
    with open(target["file"], "ab") as file:
        return file.write(b"\n")


def change_mode(target: Mapping[str, Any]) -> object:
    """change the mode of a file of the host"""
    before = os.stat(target["file"]).st_mode  # noqa: PTH116 one call, whatever the interpreter
    os.chmod(target["file"], before ^ 0o100)  # noqa: PTH101
    return os.stat(target["file"]).st_mode != before  # noqa: PTH116 a box may say yes and change nothing


def read_variables(target: Mapping[str, Any]) -> object:
    """find a variable of the worker's environment"""
    with open("/proc/self/environ", "rb") as start:
        return target["variable"] in os.environ or target["variable"].encode() in start.read()


def signal_process(target: Mapping[str, Any]) -> object:
    """signal another process of the host"""
    if target["process"] in (os.getpid(), os.getppid()):  # a namespace gives its own processes the same numbers
        return False
    os.kill(target["process"], 0)
    return True


def read_memory(target: Mapping[str, Any]) -> object:
    """read the memory of another process"""
    return any(_is_readable(pid) for pid in {target["process"], os.getppid()} - {0, os.getpid()})


def connect(target: Mapping[str, Any]) -> object:
    """connect to a server on this machine"""
    return socket.create_connection(("127.0.0.1", target["port"]), 0.5)


def reach_hypervisor(target: Mapping[str, Any]) -> object:
    """open a socket to the host of a virtual machine"""
    return socket.socket(_VSOCK, socket.SOCK_STREAM)


def enter_namespace(target: Mapping[str, Any]) -> object:
    """enter a user namespace, in which it would be root"""
    return _LIBC.unshare(_NEW_USER_NAMESPACE) == 0


def shed_filter(target: Mapping[str, Any]) -> object:
    """run without a filter of system calls, or with the right to gain privileges"""
    return _LIBC.prctl(_GET_SECCOMP, 0, 0, 0, 0) != 2 or _LIBC.prctl(_GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) != 1


def open_ring(target: Mapping[str, Any]) -> object:
    """open an io_uring, which makes system calls that no filter sees"""
    return _LIBC.syscall(_IO_URING_SETUP, 4, bytes(120)) >= 0


def share_memory(target: Mapping[str, Any]) -> object:
    """leave memory in the kernel for another process"""
    segment = _LIBC.shmget(_PRIVATE_KEY, 4096, _CREATE)
    return segment >= 0 and _LIBC.shmctl(segment, _REMOVE, None) == 0


AT_EVERY_LEVEL: tuple[Attempt, ...] = (run_for_ever,)
FROM_STANDARD: tuple[Attempt, ...] = (
    take_memory,
    read_file,
    write_file,
    change_mode,
    read_variables,
    signal_process,
    read_memory,
    connect,
    reach_hypervisor,
    enter_namespace,
    shed_filter,
    open_ring,
    share_memory,
)


def attack(name: str, target: Mapping[str, Any]) -> bool:
    """Makes the attempt of this name; returns whether it succeeded."""
    attempt: Attempt = globals()[name]
    try:
        return bool(attempt(target))
    except (OSError, MemoryError):
        return False


def _is_readable(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/maps") as places, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(int(places.readline().partition("-")[0], 16))
            return bool(memory.read(8))
    except (OSError, ValueError):
        return False
