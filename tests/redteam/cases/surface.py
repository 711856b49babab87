"""Hostile programs that use parts of the kernel which no candidate needs, and in which errors were found.

Invariant: what they get hold of is closed at once; no error of the kernel is tried out."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_HELD = frozenset({Status.OK, Status.SIGNAL})

_IO_URING = """
from raw import attempt, call

def attack(told):
    # A ring carries calls past every filter of calls.
    return attempt("has a ring", lambda: call("io_uring_setup", 4, bytes(120)) >= 0)
"""

_BPF = """
import ctypes
import struct
from raw import attempt, call

MAP_CREATE, PROG_LOAD = 0, 5

def attack(told):
    attributes = struct.pack("IIII", 2, 4, 4, 1) + bytes(56)
    achieved = attempt("has a table in the kernel", lambda: call("bpf", MAP_CREATE, attributes, 72) >= 0)
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0))  # return 0
    licence = ctypes.create_string_buffer(b"GPL")
    program = struct.pack("IIQQ", 1, 2, ctypes.addressof(code), ctypes.addressof(licence)) + bytes(48)
    return achieved + attempt("has a program in the kernel", lambda: call("bpf", PROG_LOAD, program, 72) >= 0)
"""

_PERF = """
import struct
from raw import attempt, call

SOFTWARE, SIZE = 1, 112

def attack(told):
    # The clock of its own process alone, not of the kernel: the least that there is.
    attributes = struct.pack("IIQQQQQ", SOFTWARE, SIZE, 0, 0, 0, 0, 1 << 5 | 1 << 6) + bytes(SIZE - 48)
    return attempt("measures by the kernel", lambda: call("perf_event_open", attributes, 0, -1, -1, 0) >= 0)
"""

_USERFAULTFD = """
from raw import attempt, call

USER_MODE_ONLY = 1

def attack(told):
    return attempt("holds up the kernel's reading of its memory", lambda: call("userfaultfd", USER_MODE_ONLY) >= 0)
"""

_KEYCTL = """
from raw import attempt, call

GET_KEYRING, READ, PROCESS, SESSION, USER = 0, 11, -2, -3, -4

def attack(told):
    achieved = attempt("stores a key in the kernel", lambda: call("add_key", b"user", b"evolve-corpus", b"corpus", 6, PROCESS) > 0)
    for name, ring in (("session", SESSION), ("user", USER)):
        achieved += attempt(f"has the {name}'s keys", lambda: call("keyctl", GET_KEYRING, ring, 0, 0, 0) != 0)
    return achieved
"""

_X32 = """
import ctypes
import os
import platform
from raw import LIBC, attempt, in_child

X32, GETPID = 0x40000000, 39

def attack(told):
    # The third set of calls of this machine, by numbers that a filter may not know.
    if platform.machine() != "x86_64":
        return []
    return in_child(lambda: attempt("uses another set of calls", lambda: LIBC.syscall(ctypes.c_long(X32 | GETPID)) == os.getpid()))
"""

_I386 = """
import ctypes
import mmap
import os
import platform
from raw import attempt, in_child

def attack(told):
    # The calls of 32 bits: number 20 is getpid there, and something else among those of 64.
    if platform.machine() != "x86_64":
        return []
    def called():
        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(bytes.fromhex("53 b8 14 00 00 00 cd 80 5b c3"))  # push rbx; mov eax, 20; int 0x80; pop rbx; ret
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() == os.getpid()
    return in_child(lambda: attempt("uses the calls of 32 bits", called))
"""

_FILELESS = """
import ctypes
import os
import shutil
from raw import attempt, call, read

EMPTY_PATH = 0x1000

def attack(told):
    def ran(act):
        number = call("memfd_create", b"true", 0)
        with open(number, "wb", closefd=False) as copy:
            copy.write(read(shutil.which("true"), 1 << 24))
        pid = os.fork()
        if pid == 0:
            try:
                act(number)
            finally:
                os._exit(1)
        return os.waitpid(pid, 0)[1] == 0
    arguments = (ctypes.c_char_p * 2)(b"true", None)
    achieved = attempt("runs a program that is no file", lambda: ran(lambda number: call("execveat", number, b"", arguments, 0, EMPTY_PATH)))
    return achieved + attempt("runs a program by its descriptor", lambda: ran(lambda number: os.execv(f"/proc/self/fd/{number}", ["true"])))
"""

CASES: tuple[Case, ...] = (
    Case(
        "kern.io_uring",
        "have the kernel work off calls that no filter sees",
        _IO_URING,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case("kern.bpf", "run a program in the kernel", _BPF, harmless=True, ends=_HELD, needs=LINUX, files=RAW),
    Case("kern.perf", "use the kernel's measuring", _PERF, harmless=True, ends=_HELD, needs=LINUX, files=RAW),
    Case(
        "kern.userfaultfd",
        "hold up the kernel while it reads",
        _USERFAULTFD,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "kern.keyctl", "read and store keys in the kernel", _KEYCTL, harmless=True, ends=_HELD, needs=LINUX, files=RAW
    ),
    Case(
        "kern.x32_abi",
        "use the calls of the x32 set",
        _X32,
        harmless=True,
        ends=_HELD,
        needs=LINUX | {"x86_64"},
        files=RAW,
    ),
    Case(
        "kern.i386_abi",
        "use the calls of the 32-bit set",
        _I386,
        harmless=True,
        ends=_HELD,
        needs=LINUX | {"x86_64"},
        files=RAW,
    ),
    Case(
        "kern.fileless_exec",
        "run a program that lies in memory alone",
        _FILELESS,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
)
