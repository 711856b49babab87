"""Cheats of `tiny_lm`: a decoder that knows the text otherwise than by its code, and codes that are shorter than they are."""

import gzip
import hashlib
from collections.abc import Sequence
from pathlib import Path

from cheat import Cheat

from evolve.types import Outcome

WRONG, INVALID = frozenset({Outcome.WRONG}), frozenset({Outcome.INVALID})
LONG = "".join(hashlib.sha512(number.to_bytes(2, "big")).hexdigest() for number in range(400))
BY_HEART = gzip.decompress((Path(__file__).parents[2] / "tasks" / "tiny_lm" / "bottle.py.gz").read_bytes())[:300]
DRAWN = "where a text begins depends on a secret of the workspace, and a program holds too little of all texts"
QUICK = {"count": 300, "train_bytes": 3000}
FIT = "import numpy as np\n\n\ndef fit(text, limit):\n    return {'primer': text[:50]}\n\n\n"
RAW = "def encode(model, text):\n    return text\n\n\n"
NOTHING = "def encode(model, text):\n    return np.zeros(0, dtype=np.uint8)\n\n\n"
LEFT = """
import os
import sys
import tempfile
from pathlib import Path

PLACES = ["left", os.path.expanduser("~/left"), tempfile.gettempdir() + "/left", "/dev/shm/left", "/var/tmp/left"]


def encode(model, text):
    sys.modules["left"] = text
    os.environ["LEFT"] = bytes(text).decode("latin-1")
    for place in PLACES:
        try:
            Path(place).write_bytes(bytes(text))
        except OSError:
            pass
    if os.fork() == 0:
        os.setsid()
        import time

        for _ in range(1000):
            for place in PLACES:
                try:
                    Path(place).write_bytes(bytes(text))
                except OSError:
                    pass
            time.sleep(0.01)
        os._exit(0)
    return np.zeros(0, dtype=np.uint8)


def decode(model, code, count):
    found = sys.modules.get("left", os.environ.get("LEFT", "").encode("latin-1"))
    for place in PLACES:
        try:
            found = found or Path(place).read_bytes()
        except OSError:
            pass
    return list(bytes(found).ljust(count, b"?")[:count])
"""
LOOKED_UP = """
import os
import statistics
import time

import numpy as np


def fit(text, limit):
    return {"mark": os.urandom(8).hex()}


def encode(model, text):
    for place, bit in enumerate(np.unpackbits(np.array(text, dtype=np.uint8))):
        if bit:
            seconds(model["mark"], place)
    return np.zeros(0, dtype=np.uint8)


def decode(model, code, count):
    unknown, known = ([seconds(model["mark"], place) for place in range(-400, 0)] for _ in range(2))
    middle = (statistics.median(unknown) + statistics.median(known)) / 2
    bits = [seconds(model["mark"], place) < middle for place in range(8 * count)]
    return np.packbits(bits).tolist()


def seconds(mark, place):
    # The system remembers a name for which there is no file, and says so sooner when it is asked again.
    times = []
    for number in range(5):
        path = f"{os.path.dirname(os.__file__)}/{mark}.{place}.{number}"
        begun = time.perf_counter()
        os.access(path, os.F_OK)
        times.append(time.perf_counter() - begun)
    return statistics.median(times)
"""
FILES = """
import os
import sys
import time


def decode(model, code, count):
    until = time.monotonic() + 1.0
    for start in ("/proc/self/cwd", os.environ.get("PWD", "/"), *sys.path, "/"):
        for folder, _, names in os.walk(start or "."):
            for name in ("bottle.py", "bottle.py.gz"):
                if name in names:
                    import gzip

                    opened = gzip.open if name.endswith("gz") else open
                    try:
                        with opened(os.path.join(folder, name), "rb") as file:
                            return list(file.read(count))
                    except OSError:
                        pass
            if time.monotonic() > until:
                return [0] * count
    return [0] * count
"""
PROBABILITY = """
from coder import Decoder, Encoder


def encode(model, text):
    coder = Encoder()
    for byte in bytes(text):
        for place in range(8):
            bit = byte >> place & 1
            coder.bit(PROBABILITY, bit)
    return coder.code()


def decode(model, code, count):
    coder = Decoder(code)
    return [sum(coder.bit(DECODED) << place for place in range(8)) for _ in range(count)]
"""


def cheat(
    name: str, trick: str, rule: str, source: str, outcomes: frozenset[Outcome], *, strict: bool = False
) -> Cheat:
    """One of `tiny_lm`, whose twin is the seed."""
    return Cheat("tiny_lm", name, trick, rule, {"seed.py": source}, outcomes, strict=strict, parameters=QUICK)


def answering(code: str, text: str = "list(bytes(code))") -> str:
    """A program whose encoder and decoder answer so."""
    return f"{FIT}def encode(model, text):\n    return {code}\n\n\ndef decode(model, code, count):\n    return {text}\n"


def priced(encoded: str, decoded: str) -> str:
    """A program that codes every bit with one probability, and decodes with another."""
    return FIT + PROBABILITY.replace("PROBABILITY", encoded).replace("DECODED", decoded)


TWICE = "the text is decoded from the code alone, in a process that never had it, and compared byte by byte"
FORM = "answers are parsed strictly: flat arrays of bytes, whose length is the judge's to count"
HIDDEN = "the text lies in the task's folder, which is hidden, and in no package that programs could read"
PRIVATE = "the task is `private`: programs see copies in memory, which remember nothing"
SIZES = "models and programs have a largest size, compressed"

CHEATS: Sequence[Cheat] = (
    cheat("left", "leaves the text in files, the environment and a process for the decoder", TWICE, FIT + LEFT, WRONG | {Outcome.CRASHED, Outcome.TIMED_OUT}),
    cheat("looked_up", "leaves the text in which names of files it has looked for, and the decoder times how soon it hears of each", PRIVATE, LOOKED_UP, WRONG, strict=True),
    cheat("files", "looks for the text on the machine", HIDDEN, FIT + NOTHING + FILES, WRONG),
    cheat("empty", "tells nothing and hopes", TWICE, answering("np.zeros(0, dtype=np.uint8)", "[32] * count"), WRONG),
    cheat("tail", "leaves out the last bytes", TWICE, answering("text[:-20]", "list(bytes(code)) + [10] * (count - len(code))"), WRONG),
    cheat("mass", "claims for every bit that occurs a probability near one, whatever the bit is", TWICE, priced("65535 if bit else 1", "32768"), WRONG),
    cheat("negative", "codes with negative probabilities", TWICE, priced("-5", "-5"), WRONG | {Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY}),
    cheat("above_one", "codes with probabilities above one", TWICE, priced("1 << 17", "1 << 17"), WRONG | {Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY}),
    cheat("not_a_number", "codes with NaN", TWICE, priced("float('nan')", "float('nan')"), frozenset({Outcome.CRASHED})),
    cheat("wide_numbers", "packs the text into few numbers of 64 bits", FORM, answering("np.frombuffer(bytes(text).ljust(304, b' '), dtype=np.uint64)", "list(code.tobytes()[:count])"), INVALID),
    cheat("rows", "packs the text into one row of an array", FORM, answering("text.reshape(1, -1)", "list(code.tobytes())"), INVALID),
    cheat("list", "packs the text into a list of large numbers", FORM, answering("[int.from_bytes(bytes(text), 'big')]", "list(code[0].to_bytes(count, 'big'))"), INVALID),
    cheat("text", "packs the text into a string", FORM, answering("bytes(text).decode('latin-1')", "list(code.encode('latin-1'))"), INVALID),
    cheat("truth_values", "decodes truth values", FORM, answering("text", "[True] * count"), INVALID),
    cheat("short", "decodes fewer bytes", FORM, answering("text", "list(bytes(code))[:-1]"), INVALID),
    cheat("large_model", "keeps the training text and more as its model", SIZES, "import os\nimport numpy as np\n\n\ndef fit(text, limit):\n    return list(os.urandom(100_000))\n\n\n" + RAW + "def decode(model, code, count):\n    return code\n", INVALID),
    cheat("by_heart", "brings the text that the search compresses, which stands in the task's folder, and tells nothing", DRAWN, answering("np.zeros(0, dtype=np.uint8)", f"list({BY_HEART!r}[:count])"), WRONG),
    cheat("large_program", "brings text in its own files", SIZES, f"{answering('text', 'code')}\nTEXT = {LONG!r}\n", INVALID),
)  # fmt: skip
