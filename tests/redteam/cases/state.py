"""Candidates that want to change their own input, the clock, or what the next candidate meets."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case
from tests.redteam.companion import LINUX, PAGES

_ITS_OWN_LOSS = frozenset({Status.OK, Status.ERROR, Status.BAD_JSON, Status.BAD_FRAME, Status.NO_RESULT})
"""However its own session ends: what counts is the next one."""

CASES = (
    Case(
        "job.tamper",
        "rewrite what the judge has sent, by the files in which it came",
        """
import mmap
import os
import stat
from guard import tried

close, kept = os.close, []

def attack(told):
    os.close = keep
    return []

def keep(number):
    if stat.S_ISREG(os.fstat(number).st_mode):
        kept.append(number)
    else:
        close(number)

def again(text):
    achieved = tried("wrote into the judge's requests", os.write, 3, b"")
    for number in kept:
        achieved += tried("wrote into its input", os.pwrite, number, b"x", 0)
        achieved += tried("cut its input", os.ftruncate, number, 1)
        achieved += tried("mapped its input for writing", mmap.mmap, number, 1)
        achieved += tried("opened its input and wrote", reopened, number)
    return achieved

def reopened(number):
    os.write(os.open(f"/proc/self/fd/{number}", os.O_RDWR), b"x")
""",
        again=1 << 20,
    ),
    Case(
        "state.patch_numpy",
        "change numpy and the built-in functions for whoever comes next",
        """
import builtins
import numpy

def attack(told):
    numpy.sum = numpy.mean = lambda *_, **__: 1e9
    numpy.random.seed(0)
    builtins.sum = builtins.max = lambda *_, **__: 1e9
    numpy.ones(1 << 10)[:] = 7
    return []
""",
        must="the next one meets a clean state",
        ends=_ITS_OWN_LOSS,
        after="""
import numpy

def attack(told):
    clean = numpy.sum(numpy.ones(3)) == 3 and sum([1, 2]) == 3 and max(1, 2) == 2
    return [] if clean else ["met changed functions"]
""",
        needs=frozenset({"numpy"}),
    ),
    Case(
        "state.patch_shim",
        "change the code around itself, wherever it finds it",
        """
import gc
import os
import sys

def attack(told):
    for found in gc.get_objects():
        if type(found) is dict and found.get("__name__", "").startswith("evolve.sandbox"):
            for name in ("answer", "encode", "frame", "perform", "pieces", "reply"):
                if name in found:
                    found[name] = lambda *_: b"x" * 100
    frame = sys._getframe()
    while frame:
        frame.f_globals["encode"] = frame.f_globals["frame"] = lambda *_: b"x" * 100
        frame = frame.f_back
    os.write = os._exit = lambda *_: 0
    return []
""",
        must="its own failure, the next one meets a clean state",
        ends=_ITS_OWN_LOSS | {Status.TIMEOUT},
        seconds=0.5,
        within=3.0,
    ),
    Case(
        "state.hooks",
        "leave hooks for tracing, auditing, collecting, importing and leaving",
        """
import atexit
import gc
import sys
import threading

def hook(*_):
    return hook

def attack(told):
    sys.settrace(hook)
    sys.setprofile(hook)
    threading.settrace(hook)
    sys.addaudithook(hook)
    gc.callbacks.append(hook)
    sys.meta_path.insert(0, None)
    sys.path_hooks.insert(0, hook)
    sys.excepthook = sys.unraisablehook = hook
    atexit.register(hook)
    return []
""",
        must="the next one meets a clean state",
        ends=_ITS_OWN_LOSS,
        after="""
import gc
import sys

def attack(told):
    clean = sys.gettrace() is None and sys.getprofile() is None and not gc.callbacks and None not in sys.meta_path
    return [] if clean else ["met a hook"]
""",
    ),
    Case(
        "state.environment",
        "leave variables, a file mask, limits and ignored signals",
        """
import os
import resource
import signal

def attack(told):
    os.environ["LD_PRELOAD"] = os.environ[told["mark"]] = "planted.so"
    os.umask(0o777)
    resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    return []
""",
        must="the next one meets a clean state",
        after="""
import os
import resource
import signal

def attack(told):
    found = [name for name in ("LD_PRELOAD", told["mark"]) if name in os.environ]
    found += ["a file mask"] if os.umask(0o22) == 0o777 else []
    found += ["a limit"] if resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 8 else []
    found += ["a signal"] if signal.getsignal(signal.SIGTERM) is signal.SIG_IGN or signal.pthread_sigmask(0, ()) else []
    return [f"met {what}" for what in found]
""",
    ),
    Case(
        "state.open_file",
        "leave word in its standard input, by its flags and by a lock on a part of it",
        """
import fcntl
import os
import struct

def attack(told):
    for descriptor in range(5):
        try:
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
            fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK | os.O_APPEND)
            fcntl.fcntl(descriptor, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 77, 1, 0))
        except OSError:
            pass
    return []
""",
        after="""
import fcntl
import os
import struct

def attack(told):
    done = []
    if fcntl.fcntl(0, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND):
        done.append("finds the flags of the one before it")
    try:
        found = fcntl.fcntl(os.open(os.devnull, os.O_RDWR), 36, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    except OSError:
        return done
    if struct.unpack("hhqqi4x", found)[2] == 77:
        done.append("finds the lock of the one before it")
    return done
""",
        must="the next one finds nothing",
        needs=LINUX,
    ),
    Case(
        "state.page_cache",
        "leave word in which pages of the machine's files are in memory, by calls that evict them and calls that tell",
        """
from pages import bits, evict, largest, mark

def attack(told):
    achieved = evict(largest())
    mark(largest(), bits(told))
    return achieved
""",
        files=PAGES,
        after_files=PAGES,
        after="""
from pages import LOOKS, bits, largest, told_by

def attack(told):
    return [words for look in LOOKS for words in told_by(look, largest(), bits(told))]
""",
        must="nothing is evicted, and no call tells what is in memory",
        harmless=True,
        needs=LINUX,
    ),
    Case(
        "state.cold_pages",
        "leave word in which pages it has read, for one that counts its reads from the disk",
        """
from pages import bits, evict, largest, mark

def attack(told):
    evict(largest())
    mark(largest(), bits(told))
    return []
""",
        files=PAGES,
        after_files=PAGES,
        after="""
from pages import bits, from_memory, largest, told_by

def attack(told):
    return told_by(from_memory, largest(), bits(told))
""",
        must="every read is one of memory, in a box that is `private`",
        exempt=frozenset({"standard"}),
        private=True,
        harmless=True,
        needs=LINUX,
    ),
    Case(
        "state.missing_names",
        "leave word in which names it has looked for, for one that times how soon it hears that there is no such file",
        """
from pages import look_up

def attack(told):
    look_up(told)
    return []
""",
        files=PAGES,
        after_files=PAGES,
        after="""
from pages import looked_up

def attack(told):
    return looked_up(told)
""",
        must="a name that was looked for is told as soon as another one, in a box that is `private`",
        exempt=frozenset({"standard"}),
        private=True,
        harmless=True,
        needs=LINUX,
    ),
    Case(
        "state.file_hint",
        "leave word in what a file of the machine is said to be written for",
        """
import fcntl
import os
import struct

def attack(told):
    with open(os.__file__) as file:
        before = fcntl.fcntl(file, 1035, bytes(8))
        try:
            fcntl.fcntl(file, 1036, struct.pack("Q", 3))
        except OSError:
            return []
        fcntl.fcntl(file, 1036, before)
    return ["has changed a hint of the machine's file"]
""",
        must="refused",
        harmless=True,
        needs=LINUX,
    ),
    Case(
        "fs.lock",
        "lock a file of the machine, for whoever else uses it",
        """
import fcntl
import os

def attack(told):
    held = open(os.__file__)
    fcntl.flock(held, fcntl.LOCK_EX)
    done = []
    with open(os.__file__) as other:
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            done.append("locked a file that others use")
    return done
""",
        must="no lock is held",
        needs=LINUX,
    ),
    Case(
        "leak.machine",
        "read what the kernel tells of the whole machine",
        """
def attack(told):
    done = []
    for name in ("cmdline", "meminfo", "loadavg", "diskstats", "config.gz", "sys/kernel/hostname", "1/stat"):
        try:
            with open("/proc/" + name, "rb") as file:
                if file.read(1):
                    done.append("has read /proc/" + name)
        except OSError:
            pass
    return done
""",
        must="nothing of it is there",
        harmless=True,
        needs=LINUX,
    ),
    Case(
        "state.device_times",
        "leave word in the times of a device that everybody has",
        """
import os

def attack(told):
    done = []
    for path in ("/dev/full", "/dev/zero"):
        before = os.stat(path).st_ctime_ns
        try:
            os.utime(path)
        except OSError:
            continue
        if os.stat(path).st_ctime_ns != before:
            done.append(f"changed the times of {path}")
    return done
""",
        must="refused",
        needs=LINUX,
    ),
    Case(
        "state.pids",
        "leave word in how many processes there were",
        """
import os

def attack(told):
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    return []
""",
        after="""
import os

def attack(told):
    return [f"sees that there were {os.getpid()} processes"] if 50 < os.getpid() < 1000 else []
""",
        must="the next one has the number that every one has",
        exempt=frozenset({"standard"}),
        needs=LINUX,
    ),
    Case(
        "state.leave_files",
        "leave files for whoever comes next, wherever it may write",
        """
import os
import tempfile
from pathlib import Path

def attack(told):
    for folder in (".", os.environ["HOME"], tempfile.gettempdir(), "/dev/shm", "/var" + tempfile.gettempdir(), "/run/lock"):
        try:
            Path(folder, told["mark"]).write_text("planted")
        except OSError:
            pass
    return []
""",
        must="the next one finds nothing",
        harmless=True,
        after="""
import os
import tempfile
from pathlib import Path

def attack(told):
    folders = {".", os.environ["HOME"], tempfile.gettempdir(), "/dev/shm", "/var" + tempfile.gettempdir(), "/run/lock"}
    return [f"found a file in {folder}" for folder in folders if Path(folder, told["mark"]).exists()]
""",
    ),
    Case(
        "state.fake_clock",
        "change every clock of Python, to look fast",
        """
import time

def attack(told):
    wait = time.sleep
    for name in ("perf_counter", "monotonic", "time", "process_time", "perf_counter_ns", "monotonic_ns", "time_ns"):
        setattr(time, name, lambda: 0)
    wait(0.4)
    return []
""",
        must="measured outside",
        lasts=0.4,
    ),
)
