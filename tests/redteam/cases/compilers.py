"""Candidates that attack while they are compiled: sources that are large, endless, or read what is not theirs."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_CC = frozenset({"cc"})
_STOPPED = frozenset({Status.OK, Status.TIMEOUT, Status.MEMORY_LIMIT})
_COMPILED = '''
import os
import subprocess

def compiled(source):
    """The object's bytes at its beginning and its size; nothing where the compiler fails."""
    with open("attack.c", "w") as file:
        file.write(source)
    done = subprocess.run(["cc", "-c", "attack.c", "-o", "attack.o"], stderr=subprocess.DEVNULL)
    if done.returncode or not os.path.exists("attack.o"):
        return b"", 0
    with open("attack.o", "rb") as file:
        return file.read(1 << 20), os.stat("attack.o").st_size
'''

CASES = (
    Case(
        "cc.include_dev_zero",
        "include a file that never ends",
        f"{_COMPILED}"
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    _, size = compiled('#include "/dev/zero"')
    return ["compiled what never ends"] if size else []
""",
        must="fails inside the limits",
        ends=_STOPPED,
        dangerous=True,
        seconds=3.0,
        needs=_CC,
    ),
    Case(
        "cc.incbin_secret",
        "put a file of the host into the object",
        f"{_COMPILED}"
        """
from guard import learnt

def attack(told):
    found, _ = compiled(f'__asm__(".data\\\\n.incbin \\\\"{told["grader"]}\\\\"\\\\n");')
    return ["has read a file of the host"] if learnt(told, found) else []
""",
        must="fails",
        harmless=True,
        needs=_CC,
    ),
    Case(
        "cc.huge_object",
        "make an object of 200 MiB",
        f"{_COMPILED}"
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    _, size = compiled("char huge[200 << 20] = {1};")
    return [f"made an object of {size >> 20} MiB"] if size > 32 << 20 else []
""",
        must="fails at the limit of a file",
        ends=_STOPPED,
        dangerous=True,
        needs=_CC,
    ),
    Case(
        "cc.template_bomb",
        "have a macro written out a thousand million times",
        f"{_COMPILED}"
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    lines = ["#define X0 +1"] + [f"#define X{n} X{n - 1} X{n - 1}" for n in range(1, 31)]
    _, size = compiled("\\n".join([*lines, "int bomb = X30;"]))
    return ["compiled the bomb"] if size else []
""",
        must="fails or times out inside the limits",
        ends=_STOPPED,
        dangerous=True,
        seconds=2.0,
        within=5.0,
        needs=_CC,
    ),
)
