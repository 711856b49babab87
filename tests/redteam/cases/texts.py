"""Candidates whose words and file names attack whoever shows them, stores them or looks them up."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

CASES = (
    Case(
        "log.terminal",
        "print and raise what moves a terminal's cursor, renames its window and turns text around",
        r"""
TEXT = "\x1b[2J\x1b]0;yours\x07\x9b31m\r\u202egnp.exe\u2066\x00\x08\x7f"

def attack(told):
    print(TEXT * 100)
    raise RuntimeError(TEXT)
""",
        must="error, shown as plain text",
        ends=frozenset({Status.ERROR}),
    ),
    Case(
        "name.leads_out",
        "bring a file whose name leads out of its folder",
        "def attack(told):\n    return ['its file was written']\n",
        must="no_entry",
        ends=frozenset({Status.NO_ENTRY}),
        files={"../../evolve-led-out": "planted"},
    ),
    Case(
        "name.absolute",
        "bring a file whose name begins at the root",
        "def attack(told):\n    return ['its file was written']\n",
        must="no_entry",
        ends=frozenset({Status.NO_ENTRY}),
        files={"/evolve-absolute": "planted"},
    ),
    Case(
        "name.shadows",
        "bring files with the names of modules that whoever calls it may import",
        """
import json
import struct

def attack(told):
    return []
""",
        must="its own failure, the next one meets a clean state",
        ends=frozenset({Status.OK, Status.NO_ENTRY, Status.ERROR, Status.BAD_JSON, Status.NO_RESULT}),
        files={
            f"{name}.py": "def dumps(*_, **__):\n    return '[100]'\nloads = pack = unpack = Struct = dumps\n"
            for name in ("json", "struct", "numpy", "sitecustomize", "evolve/__init__", "evolve/sandbox/status")
        },
        after="""
import json
import struct

def attack(told):
    return [] if json.dumps([1]) == "[1]" and struct.pack(">B", 1) == bytes([1]) else ["met its modules"]
""",
    ),
)
