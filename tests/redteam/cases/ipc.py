"""Hostile programs that leave messages for later ones in the kernel, or load code that acts as it is loaded.

Invariant: what is left in the kernel is taken away at once."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_HELD = frozenset({Status.OK, Status.SIGNAL})

_SYSTEM_V = """
from raw import attempt, call

REMOVE, CREATE, KEY = 0, 0o1600, 0x65766F6C

def attack(told):
    achieved = attempt("has memory that outlives it", lambda: call("shmctl", call("shmget", KEY, 4096, CREATE), REMOVE, 0) == 0)
    achieved += attempt("has a queue that outlives it", lambda: call("msgctl", call("msgget", KEY, CREATE), REMOVE, 0) == 0)
    return achieved + attempt("has a counter that outlives it", lambda: call("semctl", call("semget", KEY, 1, CREATE), 0, REMOVE, 0) == 0)
"""

_QUEUE = """
import os
from raw import attempt, call

def attack(told):
    def made():
        os.close(call("mq_open", b"evolve-corpus", os.O_CREAT | os.O_RDWR, 0o600, 0))
        return call("mq_unlink", b"evolve-corpus") == 0
    return attempt("has a queue that outlives it", made)
"""

_CONSTRUCTOR = r"""
import ctypes
import shutil
import subprocess

SOURCE = r'''
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
int secret = -2, line = -2;
__attribute__((constructor)) static void begin(void) {
    secret = open(SECRET, O_RDONLY);
    line = socket(AF_INET, SOCK_STREAM, 0);
}
'''

def attack(told):
    # Loading is enough: what is checked on the way to a function of it comes too late.
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return []
    with open("loaded.c", "w") as text:
        text.write(SOURCE)
    subprocess.run([compiler, "-shared", "-fPIC", f'-DSECRET="{told["secret"]}"', "-o", "loaded.so", "loaded.c"], check=True, stdin=subprocess.DEVNULL)
    library = ctypes.CDLL("./loaded.so")
    numbers = {name: ctypes.c_int.in_dll(library, name).value for name in ("secret", "line")}
    return [f"opens the {name} as it is loaded" for name, number in numbers.items() if number != -1]
"""

CASES: tuple[Case, ...] = (
    Case(
        "ipc.sysv",
        "leave memory, a queue or a counter in the kernel",
        _SYSTEM_V,
        harmless=True,
        ends=_HELD,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "ipc.mq", "leave a queue of messages in the kernel", _QUEUE, harmless=True, ends=_HELD, needs=LINUX, files=RAW
    ),
    Case(
        "so.constructor",
        "act as a library that is loaded",
        _CONSTRUCTOR,
        harmless=True,
        seconds=10.0,
        within=13.0,
        needs=LINUX | {"cc"},
    ),
)
