"""What hostile programs try on the tasks of speed, `convolve2d` and `psd_projection`: to look fast without being it.

Every program begins with the seed's function, under the name `honest`, so that what it adds is the trick alone. What remains right and is no faster has a fitness of about 0: at most `NOTHING`, since times are noisy."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cheat import Cheat

from evolve.types import Outcome

TASKS = Path(__file__).parents[2] / "tasks"
INVALID = frozenset({Outcome.INVALID})
OK = frozenset({Outcome.OK})
CRASHED = frozenset({Outcome.CRASHED})
NOTHING = 0.35
SPARED = 0.12
"""At most so much is gained by taking arguments and handing over answers with less work than the sandbox's own loop, in calls of some milliseconds."""

CHECKED = "every answer is checked by what the judge computes, after it was given"
FRESH = "each call has numbers that were never there before"
WHOLE = "a call is timed from when its arguments are sent until its whole answer is there"
CHARGED = "processor time beside the calls, beyond the seed's, is added to the time of the call"
KERNEL = "the kernel counts the time of all threads, and the judge reads it from outside"
TWO_PROCESSES = "judge and program are two processes"
OWN_COPY = "arguments arrive as copies, and the judge checks with its own"
ALIKE = "memory that was freed is kept for all programs alike"
ALONE = "a program that is timed can start no process"
NOT_EASY = "no kind of instances is easy as a whole: what is nearly constant or nearly semidefinite is never quite so"
SECRET = "instances are drawn from chance that no program can know"


def _honest(task: str, name: str) -> str:
    source = (TASKS / task / "seed.py").read_text("utf-8")
    return source.replace(f"def {name}(", "def honest(")


def _cheat(task: str, function: str, row: tuple[str, str, str, str, frozenset[Outcome]]) -> Cheat:
    """One whose module is the seed with another name and a body that defines the function."""
    name, trick, rule, body, outcomes = row
    honest = _honest(task, function)
    files: Mapping[str, str] = {"seed.py": f"{honest}\n\n{body.strip()}\n"}
    twin = {"seed.py": f"{honest}\n\n{function} = honest\n"}
    at_most = (SPARED if LOOP in body else NOTHING) if Outcome.OK in outcomes else None
    return Cheat(task, name, trick, rule, files, outcomes, at_most, twin=twin)


# In the candidate's own process, a program can take the place of the loop that serves it. `answered` writes the answer to the request with a ticket, which has one array.
LOOP = """
import gc
import json
import math
import os
import socket
import struct
import sys

OK = b'["ok",null]'
OK = struct.pack(">QI", 4 + len(OK), len(OK)) + OK


def begun(ticket, shape):
    text = b'["ok",{"$array":["float64",%s]}]' % str(list(shape)).replace(" ", "").encode()
    return ticket + struct.pack(">QI", 4 + len(text) + 8 * math.prod(shape), len(text)) + text


def serve(requests, replies):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, requests)
    buffer = bytearray(1 << 20)
    gc.disable()
    while got := sock.recv_into(buffer):
        ticket, length, _ = struct.unpack_from(">8sQB", buffer)
        while got < 17 + length:
            got += sock.recv_into(memoryview(buffer)[got:])
        end = 21 + struct.unpack_from(">I", buffer, 17)[0]
        if end == 17 + length:
            os.write(replies, ticket + OK)
            continue
        shape = json.loads(buffer[21:end])[2][0]["$array"][1]
        answered(replies, ticket, np.frombuffer(buffer, np.float64, math.prod(shape), end).reshape(shape))
    os._exit(0)


def enter():
    frame = sys._getframe()
    while "program" not in frame.f_locals or not hasattr(frame.f_locals["program"], "timing"):
        frame = frame.f_back
    frame.f_locals["program"].timing.awaits = serve
"""

CONVOLUTIONS = (
    ("zeros", "answers zeros", CHECKED, """
def convolve(image, kernel):
    return np.zeros([a + b - 1 for a, b in zip(image.shape, kernel.shape)], image.dtype)
""", INVALID),
    ("the answer before", "answers what it has answered before to an input of this shape", FRESH, """
known = {}


def convolve(image, kernel):
    if image.shape not in known:
        known[image.shape] = honest(image, kernel)
    return known[image.shape]
""", INVALID),
    ("by identity", "keeps answers by the addresses of their inputs", FRESH, """
known = {}


def convolve(image, kernel):
    key = (id(image), id(kernel), image.shape)
    if key not in known:
        known[key] = honest(image, kernel)
    return known[key]
""", INVALID | OK),
    ("by content", "keeps answers by what their inputs hold", FRESH, """
known = {}


def convolve(image, kernel):
    key = (image[::7, ::7].tobytes(), kernel.tobytes())
    if key not in known:
        known[key] = honest(image, kernel)
    return known[key]
""", OK),
    ("in files", "keeps answers in files, for the process that comes next", FRESH, """
import hashlib
import os


def convolve(image, kernel):
    name = hashlib.sha1(image.tobytes() + kernel.tobytes()).hexdigest() + ".npy"
    if not os.path.exists(name):
        np.save(name, honest(image, kernel))
    return np.load(name)
""", OK),
    ("single precision", "computes with half of the digits", CHECKED, """
def convolve(image, kernel):
    return honest(image.astype(np.float32), kernel.astype(np.float32)).astype(image.dtype)
""", INVALID),
    ("half", "leaves half of the kernel out", CHECKED, """
def convolve(image, kernel):
    answer = honest(image, kernel[: len(kernel) // 2])
    return np.vstack([answer, np.zeros((len(kernel) - len(kernel) // 2, answer.shape[1]))])
""", INVALID),
    ("tiny numbers are nothing", "takes numbers without full precision for 0", CHECKED, """
def convolve(image, kernel):
    answer = honest(image, kernel)
    answer[np.abs(answer) < np.finfo(answer.dtype).tiny] = 0.0
    return answer
""", INVALID),
    ("put off", "computes when the answer is written, by another numpy.asarray", WHOLE, """
waiting, plain = [], np.asarray


def computed(value, *arguments):
    if waiting and value is waiting[0][0]:
        np.asarray = plain
        return honest(*waiting.pop()[1])
    return plain(value, *arguments)


def convolve(image, kernel):
    waiting[:] = [(np.zeros(1), (image, kernel))]
    np.asarray = computed
    return waiting[0][0]
""", OK),
    ("a thread goes on", "returns at once, and a thread fills the answer in", WHOLE, """
import threading

waiting, plain = [], np.asarray


def filled(value, *arguments):
    while waiting:
        waiting.pop().join()
    return plain(value, *arguments)


def convolve(image, kernel):
    answer = np.empty([a + b - 1 for a, b in zip(image.shape, kernel.shape)], image.dtype)

    def fill():
        answer[:] = honest(image, kernel)

    waiting.append(threading.Thread(target=fill))
    waiting[0].start()
    np.asarray = filled
    return answer
""", OK),
    ("a thread works", "has a thread compute, and waits for it asleep", KERNEL, """
import threading


def convolve(image, kernel):
    found = []
    thread = threading.Thread(target=lambda: found.append(honest(image, kernel)))
    thread.start()
    thread.join()
    return found[0]
""", OK),
    ("in the way", "a thread that fills the caches while the seed is timed", CHARGED, """
import threading
import time

stop = []


def disturb():
    block = np.zeros(4_000_000)
    while not stop:
        block += 1.0
        time.sleep(0.001)


def convolve(image, kernel):
    if threading.active_count() == 1:
        threading.Thread(target=disturb, daemon=True).start()
    return honest(image, kernel)
""", OK),
    ("other clocks", "replaces the clocks of its process", TWO_PROCESSES, """
import time

for name in ("perf_counter", "process_time", "monotonic", "time", "thread_time"):
    setattr(time, name, lambda: 0.0)
    setattr(time, name + "_ns", lambda: 0)


def convolve(image, kernel):
    return honest(image, kernel)
""", OK),
    ("other comparisons", "replaces what the judge would compare with", TWO_PROCESSES, """
np.array_equal = np.allclose = lambda *_, **__: True
np.linalg.norm = lambda *_, **__: 0.0


def convolve(image, kernel):
    return np.ones([a + b - 1 for a, b in zip(image.shape, kernel.shape)], image.dtype)
""", INVALID),
    ("another process", "has a process compute whose time nobody counts", ALONE, """
import os


def convolve(image, kernel):
    here, there = os.pipe()
    if os.fork() == 0:
        os.write(there, honest(image, kernel).tobytes())
        os._exit(0)
    shape = [a + b - 1 for a, b in zip(image.shape, kernel.shape)]
    size, parts = 8 * shape[0] * shape[1], b""
    while len(parts) < size:
        parts += os.read(here, size)
    return np.frombuffer(parts).reshape(shape)
""", CRASHED),
    ("inputs of zeros", "makes its inputs so that zeros are right", OWN_COPY, """
def convolve(image, kernel):
    image[:] = 0.0
    kernel[:] = 0.0
    return np.zeros([a + b - 1 for a, b in zip(image.shape, kernel.shape)])
""", INVALID),
    ("only the first", "is right in the calls that begin a process, of which it thinks that they alone are checked", CHECKED, """
calls = []


def convolve(image, kernel):
    calls.append(None)
    if len(calls) <= 5:
        return honest(image, kernel)
    return np.zeros([a + b - 1 for a, b in zip(image.shape, kernel.shape)])
""", INVALID),
    ("knows the draws", "draws the judge's instances itself while it is imported, and has the answers ready", SECRET, """
def draws(rng):
    for _ in range(30):
        for shape, small in (((160, 150), (6, 7)), ((26, 28), (26, 28)), ((97, 83), (11, 13))):
            yield rng.standard_normal(shape), rng.standard_normal(small)
        levels = [rng.uniform(0.1, 1.0) * size for size in (100.0, 1.0)]
        yield levels[0] * (1.0 + 0.01 * rng.standard_normal((100, 90))), np.full((9, 8), levels[1])
        image = rng.standard_normal((90, 90))
        yield image * 1e-306, rng.standard_normal((8, 8)) * 10.0 ** rng.uniform(-3.0, 0.0)


known = {image[0].tobytes(): honest(image, kernel) for image, kernel in draws(np.random.default_rng([0, 0]))}


def convolve(image, kernel):
    answer = known.get(image[0].tobytes())
    return honest(image, kernel) if answer is None else answer
""", OK),
    ("knows constants", "answers what it has a formula for where image and kernel are constant", NOT_EASY, """
def overlap(long, short):
    return np.convolve(np.ones(long), np.ones(short))


def convolve(image, kernel):
    if np.ptp(image) or np.ptp(kernel):
        return honest(image, kernel)
    sides = (overlap(*sides) for sides in zip(image.shape, kernel.shape))
    return (image[0, 0] * kernel[0, 0] * np.outer(*sides)).astype(image.dtype)
""", OK),
)  # fmt: skip

PROJECTIONS = (
    ("zeros", "answers 0, which has no negative eigenvalue", CHECKED, """
def project(matrix):
    return np.zeros_like(matrix)
""", INVALID),
    ("the matrix", "answers the matrix, as if it were semidefinite", CHECKED, """
def project(matrix):
    return matrix
""", INVALID),
    ("lifted", "adds so much to the diagonal that no eigenvalue is negative", CHECKED, """
def project(matrix):
    return matrix + np.eye(len(matrix)) * np.abs(matrix).sum(axis=0).max()
""", INVALID),
    ("early", "ends the iteration when half of the digits are right", CHECKED, """
DIGITS = 2.0


def project(matrix):
    return honest(matrix)
""", INVALID),
    ("single precision", "computes with half of the digits", CHECKED, """
def project(matrix):
    return honest(matrix.astype(np.float32)).astype(matrix.dtype)
""", INVALID),
    ("other numbers", "answers in single precision", CHECKED, """
def project(matrix):
    return honest(matrix).astype(np.float32)
""", INVALID),
    ("NaN", "hides in NaN, which no comparison finds", CHECKED, """
def project(matrix):
    return np.full_like(matrix, np.nan)
""", INVALID),
    ("not symmetric", "leaves one half of the answer out", CHECKED, """
def project(matrix):
    return np.triu(honest(matrix))
""", INVALID),
    ("fails on hard ones", "raises where it would be slow", "a call that fails is the program's failure", """
def project(matrix):
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise ValueError("too hard")
    return honest(matrix)
""", CRASHED),
    ("when it is over", "computes when the function's objects are thrown away", KERNEL, """
class Late:
    def __init__(self, matrix, answer):
        self.matrix, self.answer = matrix, answer

    def __del__(self):
        self.answer[:] = honest(self.matrix)


def project(matrix):
    answer = np.empty_like(matrix)
    Late(matrix, answer)
    return answer
""", OK),
    ("done at once", "begins its answer at once, and computes while the judge waits for the rest", WHOLE, LOOP + """
def answered(replies, ticket, matrix):
    os.write(replies, begun(ticket, matrix.shape))
    os.write(replies, honest(matrix).data)


def project(matrix):
    enter()
    return honest(matrix)
""", OK),
    ("its own loop", "takes the place of the loop that serves it, to hide its work in what that takes", WHOLE, LOOP + """
def answered(replies, ticket, matrix):
    answer = honest(matrix)
    os.writev(replies, [begun(ticket, answer.shape), answer.data])


def project(matrix):
    enter()
    return honest(matrix)
""", OK),
    ("its own allocator", "has freed memory kept, so that it is not cleared anew", ALIKE, """
import ctypes

C = ctypes.CDLL(None)
for number, value in ((-1, 1 << 30), (-2, 1 << 26), (-3, 1 << 25)):
    assert C.mallopt(number, value) == 1
project = honest
""", OK),
    ("at the exit", "leaves the work to the end of its process", CHECKED, """
import atexit


def project(matrix):
    answer = np.zeros_like(matrix)
    atexit.register(lambda: np.copyto(answer, honest(matrix)))
    return answer
""", INVALID),
    ("knows definite ones", "answers the matrix where it is positive definite, and 0 where its negative is", NOT_EASY, """
def definite(matrix):
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def project(matrix):
    if definite(matrix):
        return matrix.copy()
    return np.zeros_like(matrix) if definite(-matrix) else honest(matrix)
""", OK),
)  # fmt: skip

CHEATS: Sequence[Cheat] = (
    *(_cheat("convolve2d", "convolve", row) for row in CONVOLUTIONS),
    *(_cheat("psd_projection", "project", row) for row in PROJECTIONS),
)
