"""Candidates that attack whoever reads their answers and their output."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_BAD_JSON = frozenset({Status.BAD_JSON})
_BAD_FRAME = frozenset({Status.BAD_FRAME})
_ONE_ANSWER = frozenset({Status.OK, Status.BAD_FRAME})
"""Whether the second answer is seen depends on when it comes; the first one is never replaced by it."""
# Writes an answer by hand and then waits: what becomes of it is the reader's decision. What marks the answer to a question is found
# where this process itself has it, if questions are marked at all.
_BY_HAND = """
import os
import struct
import sys
import time

def ticket():
    place = sys._getframe()
    while place:
        found = getattr(place.f_locals.get("request"), "ticket", b"")
        if found:
            return found
        place = place.f_back
    return b""

def payload(text, rest=b""):
    return struct.pack(">I", len(text)) + text + rest

def frame(data):
    return ticket() + struct.pack(">Q", len(data)) + data

def send(data):
    os.write(4, data)
    time.sleep(60)
"""


def _by_hand(line: str) -> str:
    """A program whose attack is one line."""
    return f"{_BY_HAND}\ndef attack(told):\n    {line}\n"


CASES = (
    Case(
        "out.stdout_flood",
        "print for ever",
        """
import os

def attack(told):
    while True:
        os.write(1, b"#" * (1 << 16))
""",
        must="timeout, a bounded part is kept",
        ends=frozenset({Status.TIMEOUT}),
        seconds=0.5,
        within=3.0,
    ),
    Case(
        "out.result_flood",
        "answer with 24 MB",
        """
def attack(told):
    return "x" * 24_000_000
""",
        must="result_too_large",
        ends=frozenset({Status.RESULT_TOO_LARGE}),
    ),
    Case(
        "out.slow_answer",
        "answer byte by byte, for ever",
        _by_hand('[(os.write(4, part), time.sleep(0.05)) for part in [frame(bytes(1000))[:-1000], *[b"x"] * 1000]]'),
        must="timeout",
        ends=frozenset({Status.TIMEOUT}),
        seconds=0.5,
        within=3.0,
    ),
    Case(
        "out.deep_json",
        "answer with 50,000 brackets",
        _by_hand('send(frame(payload(b"[" * 50_000)))'),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.deep_but_closed",
        "answer with 900 lists inside one another",
        _by_hand("""send(frame(payload(b'["ok",' + b"[" * 900 + b"]" * 900 + b"]")))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.nan",
        "answer with a number that is none",
        _by_hand("""send(frame(payload(b'["ok",NaN]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.infinity",
        "answer with a number that reads as infinite",
        _by_hand("""send(frame(payload(b'["ok",1e999]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.bigint",
        "answer with an integer of 10,000 digits",
        _by_hand("""send(frame(payload(b'["ok",' + b"9" * 10_000 + b"]")))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.dup_keys",
        "answer with the same key twice",
        _by_hand("""send(frame(payload(b'["ok",{"score":1,"score":2}]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.surrogates",
        "answer with half of a character",
        _by_hand(r"""send(frame(payload(b'["ok","\\ud800"]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.pickle",
        "answer with a pickle that makes a folder where it is read",
        _by_hand('send(frame(b"cposix\\nmkdir\\n(V" + told["folder"].encode() + b"/executed\\ntR."))'),
        must="bad_json, nothing executed",
        ends=_BAD_JSON,
    ),
    Case(
        "out.array_shape",
        "answer with an array of a million numbers in eight bytes",
        _by_hand("""send(frame(payload(b'["ok",{"$array":["float64",[1000000]]}]', bytes(8))))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.array_wraps",
        "answer with an array whose size is zero where it overflows",
        _by_hand("""send(frame(payload(b'["ok",{"$array":["uint8",[4294967296,4294967296]]}]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.array_objects",
        "answer with an array of objects, which are addresses",
        _by_hand("""send(frame(payload(b'["ok",{"$array":["object",[1]]}]', bytes(8))))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.second_frame",
        "answer twice, the second time with a better score",
        _by_hand("""send(frame(payload(b'["ok",1]')) + frame(payload(b'["ok",100]')))"""),
        must="bad_frame",
        ends=_BAD_FRAME,
    ),
    Case(
        "out.short_frame",
        "announce an answer of 2**60 bytes",
        _by_hand('send(ticket() + struct.pack(">Q", 1 << 60))'),
        must="bad_frame",
        ends=_BAD_FRAME,
    ),
    Case(
        "out.claimed_status",
        "claim that the judge's machine has failed, for another try",
        _by_hand("""send(frame(payload(b'["broken","try again"]')))"""),
        must="bad_json",
        ends=_BAD_JSON,
    ),
    Case(
        "out.old_answer",
        "answer the second question with what was prepared for it while the first was answered",
        f"{_BY_HAND}"
        """
def attack(told):
    global prepared
    prepared = frame(payload(b'["ok",["an old answer"]]'))
    return []

def again(text):
    send(prepared)
""",
        must="bad_frame",
        ends=_BAD_FRAME,
        again=1,
    ),
    Case(
        "out.answer_unasked",
        "answer, and go on answering from a thread",
        f"{_BY_HAND}"
        """
import threading

def attack(told):
    answer = frame(payload(b'["ok",[]]'))
    threading.Thread(target=go_on, args=[answer], daemon=True).start()
    return []

def go_on(answer):
    while True:
        os.write(4, answer)
        time.sleep(0.001)

def again(text):
    time.sleep(0.1)
    return []
""",
        must="bad_frame",
        ends=_BAD_FRAME,
        again=1,
    ),
    Case(
        "out.answer_at_exit",
        "answer, and answer again on the way out",
        f"{_BY_HAND}"
        """
import atexit
import sys

def attack(told):
    os._exit = sys.exit
    atexit.register(os.write, 4, frame(payload(b'["ok",["a later answer"]]')))
    return []
""",
        must="the first answer, or bad_frame",
        ends=_ONE_ANSWER,
    ),
    Case(
        "out.fork_answers_twice",
        "fork, and have both processes answer",
        """
import os

def attack(told):
    os.fork()
    return []
""",
        must="one answer, or bad_frame",
        ends=_ONE_ANSWER,
    ),
    Case(
        "out.hold_pipe",
        "leave without an answer, and a child that holds the pipes open",
        """
import os
import time

def attack(told):
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
    os._exit(0)
""",
        must="no_result, without waiting for the child",
        ends=frozenset({Status.NO_RESULT}),
        within=2.0,
    ),
    Case(
        "out.exit0",
        "leave as if all was well",
        """
import os

def attack(told):
    os._exit(0)
""",
        must="no_result",
        ends=frozenset({Status.NO_RESULT}),
    ),
    Case(
        "out.systemexit",
        "leave with Python's own exit",
        """
import sys

def attack(told):
    sys.exit(0)
""",
        must="no_result",
        ends=frozenset({Status.NO_RESULT, Status.ERROR}),
    ),
    Case(
        "out.empty_rows",
        "answer with an array without elements and with as many rows as there are numbers for",
        """
import numpy

def attack(told):
    return numpy.zeros((1 << 39, 0), numpy.int8)
""",
        must="bad_json",
        ends=frozenset({Status.BAD_JSON}),
    ),
    Case(
        "out.float_subclass",
        "answer with a number that is greater than every other",
        """
class Greatest(float):
    def __gt__(self, other):
        return True

    __ge__ = __eq__ = __gt__
    __hash__ = float.__hash__

def attack(told):
    return Greatest(1.5)
""",
        must="arrives as a plain number",
        answer="1.5",
    ),
    Case(
        "out.lying_class",
        "answer with an object that says it is a list, and runs code where it is copied",
        """
class Liar:
    __class__ = property(lambda self: list)

    def __iter__(self):
        raise SystemExit(0)

    def __reduce__(self):
        return exec, ("raise SystemExit(0)",)

    __float__ = __len__ = __getitem__ = __iter__

def attack(told):
    return Liar()
""",
        must="its own failure",
        ends=frozenset({Status.BAD_JSON, Status.ERROR, Status.NO_RESULT}),
    ),
    Case(
        "out.hostile_repr",
        "fail with an error that cannot be shown",
        """
class Unshowable(BaseException):
    def __str__(self):
        raise Unshowable(self)

    __repr__ = __format__ = __str__

def attack(told):
    try:
        raise Unshowable("first")
    except Unshowable as error:
        raise Unshowable(error) from error
""",
        must="error",
        ends=frozenset({Status.ERROR}),
    ),
)
