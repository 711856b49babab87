"""Hostile programs that look for what the host has not given them.

Invariant: they look for the word that the test made and at folders that it made; what else they come across they do not tell."""

from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_ENVIRONMENT = """
import os
from guard import learnt
from raw import attempt, read

def attack(told):
    achieved = attempt("has the variable of the key", lambda: told["key"] in os.environ)
    achieved += attempt("learns the key from its variables", lambda: learnt(told, repr(dict(os.environ)).encode()))
    # What the process was started with stays in its memory, whatever was removed since.
    return achieved + attempt("learns the key from the variables of its start", lambda: learnt(told, read("/proc/self/environ")))
"""

_HEAP = """
import gc
from guard import learnt
from raw import attempt

def pieces():
    with open("/proc/self/maps") as listed, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in listed:
            first, last = (int(place, 16) for place in line.split()[0].split("-"))
            if line.split()[1][:2] == "rw" and last - first < 1 << 28:
                for begin in range(first, last, 1 << 20):
                    memory.seek(begin)
                    yield from attempt_read(memory, min((1 << 20) + 128, last - begin))

def attempt_read(memory, size):
    try:
        yield memory.read(size)
    except OSError:
        pass

def objects():
    # Where there is no /proc: what Python itself still knows.
    for holder in gc.get_objects():
        for value in [holder, *gc.get_referents(holder)]:
            if isinstance(value, (str, bytes, bytearray)):
                yield value

def attack(told):
    for places in (pieces, objects):
        if attempt("found", lambda: any(learnt(told, piece) for piece in places())):
            return ["finds the key in the memory that it inherited"]
    return []
"""

_DESCRIPTORS = """
import os
from raw import attempt

def attack(told):
    achieved = [f"has descriptor {number}" for number in range(5, 4096) if attempt("open", lambda: os.fstat(number))]
    for number in range(5):
        achieved += attempt(f"leaves its folder by descriptor {number}", lambda: os.open("..", os.O_PATH, dir_fd=number) >= 0)
    return achieved
"""

_COMMANDS = """
import os
from guard import learnt
from raw import attempt, read, strangers

def attack(told):
    achieved = []
    for pid in strangers(told):
        achieved += attempt(f"learns the key from the command of process {pid}", lambda: learnt(told, read(f"/proc/{pid}/cmdline")))
    for name in attempt_list("/proc"):
        if name.isdigit() and int(name) not in strangers(told):
            achieved += attempt("learns the key from a command", lambda: learnt(told, read(f"/proc/{name}/cmdline")))
    return achieved[:4]

def attempt_list(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []
"""

_PROCESSES = """
import os
from raw import attempt, read

def attack(told):
    return [
        words
        for pid in (told["sibling"], told["engine"]) if pid not in (os.getpid(), os.getppid())
        for name in ("stat", "status", "comm", "maps", "limits", "cgroup", "mountinfo", "net/tcp")
        for words in attempt(f"reads {name} of process {pid} of the host", lambda: read(f"/proc/{pid}/{name}"))
    ]
"""

_SOCKETS = """
from raw import attempt, read

def attack(told):
    achieved = attempt("sees the names of the host's sockets", lambda: told["abstract"].encode() in read("/proc/self/net/unix"))
    achieved += attempt("sees the paths of the host's sockets", lambda: told["unix"].encode() in read("/proc/self/net/unix"))
    port = f":{told['tcp']:04X} ".encode()
    return achieved + attempt("sees the ports of the host", lambda: port in read("/proc/self/net/tcp"))
"""

_SECRET = """
from guard import learnt
from raw import attempt, read

def attack(told):
    return attempt("reads the key's file", lambda: learnt(told, read(told["secret"])))
"""

_USUAL_PLACES = """
import os
import pwd
from raw import attempt, opened

PLACES = (
    ".ssh", ".aws", ".config", ".docker", ".git-credentials", ".gnupg", ".kube", ".netrc", ".pypirc", ".npmrc", ".bash_history", ".python_history",
    ".cache/huggingface", ".evolve",
)

def homes(told):
    found, several = {os.path.join("/", "root")}, os.path.join("/", "home")
    try:
        found |= {os.path.join(several, name) for name in os.listdir(several)}
    except OSError:
        pass
    try:
        return found | {pwd.getpwuid(told["uid"]).pw_dir}
    except KeyError:
        return found

def attack(told):
    # They are the machine's own, so they are opened and not read.
    paths = [os.path.join(home, place) for home in sorted(homes(told)) for place in PLACES]
    paths += ["/etc/shadow", "/etc/sudoers", "/etc/ssh/ssh_host_ed25519_key", "/run/secrets", "/var/run/secrets", "/var/lib/docker", "/var/log", "/var/mail"]
    return [words for path in paths for words in attempt(f"opens {path}", lambda: opened(path, os.O_RDONLY))]
"""

_EXISTS = """
import os
from raw import attempt, opened

def refusal(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError as error:
        return error.errno

def attack(told):
    there, not_there = told["secret"], told["secret"] + ".none"
    achieved = attempt("sees that the key's file exists", lambda: os.stat(there))
    achieved += attempt("is told what may be done with the key's file", lambda: os.access(there, os.F_OK))
    achieved += attempt("holds the key's file without opening it", lambda: opened(there, os.O_PATH))
    return achieved + attempt("is refused in another way where there is no file", lambda: refusal(there) != refusal(not_there))
"""

_LISTING = """
import os
from raw import attempt, opened

def attack(told):
    paths = {os.path.dirname(told[name]) for name in ("secret", "grader", "folder", "unix")} | {told["folder"]}
    return [words for path in sorted(paths) for words in attempt("lists a folder of the host", lambda: opened(path, os.O_RDONLY | os.O_DIRECTORY) and os.listdir(path) is not None)][:1]
"""

_EVALUATOR = """
import importlib.util
import sys
from raw import attempt, read

def source(name):
    found = importlib.util.find_spec(name)
    return found is not None and found.origin and read(found.origin)

def attack(told):
    achieved = [f"finds {name} loaded" for name in list(sys.modules) if name.partition(".")[0] == "evolve"]
    for name in ("evolve", "evolve.evaluation", "evolve.tasks", "evolve.sandbox.inner.template", "evaluator", "evaluate"):
        try:
            achieved += attempt(f"reads the source of {name}", lambda: source(name))
        except ImportError:
            pass
    return achieved
"""

_REMEMBERED = """
import os
import sys

def listed(place):
    try:
        return set(os.listdir(place))
    except OSError:
        return set()

def attack(told):
    remembered = {place: set(getattr(finder, "_path_cache", ())) for place, finder in sys.path_importer_cache.items()}
    return [f"inherits the names of what it cannot see in {place}" for place, names in remembered.items() if names - listed(place)]
"""

_TERMINAL = """
import os
from raw import attempt, opened

def attack(told):
    # What is typed there by TIOCSTI is the user's command; here it is only opened.
    achieved = [f"descriptor {number} is a terminal" for number in range(5) if attempt("a terminal", lambda: os.isatty(number))]
    for path in ("/dev/tty", "/dev/console", *(f"/dev/pts/{number}" for number in range(8))):
        achieved += attempt(f"opens {path}", lambda: opened(path, os.O_RDWR))
    return achieved
"""

_KERNEL_LOG = """
import ctypes
import os
from raw import attempt, call, opened

READ_ALL = 3

def attack(told):
    into = ctypes.create_string_buffer(4096)
    achieved = attempt("reads the kernel's log", lambda: call("syslog", READ_ALL, into, 4096) >= 0)
    return achieved + attempt("opens the kernel's log", lambda: opened("/dev/kmsg", os.O_RDONLY))
"""

_WATCH = """
from raw import attempt, call

ALL_EVENTS = 0xFFF

def attack(told):
    def watched(path):
        return call("inotify_add_watch", call("inotify_init1", 0), path.encode(), ALL_EVENTS) >= 0
    return [words for path in (told["folder"], told["grader"]) for words in attempt("is told of what happens to a file of the host", lambda: watched(path))]
"""

CASES: tuple[Case, ...] = (
    Case("leak.env", "find the key among its own variables", _ENVIRONMENT, harmless=True, needs=LINUX, files=RAW),
    Case("leak.heap", "find the key in the memory that it inherited", _HEAP, needs=LINUX, files=RAW),
    Case("leak.fds", "use a descriptor that was left open", _DESCRIPTORS, needs=LINUX, files=RAW),
    Case("leak.cmdline", "find the key in the commands of processes", _COMMANDS, harmless=True, needs=LINUX, files=RAW),
    Case(
        "leak.processes", "learn of the host's processes from /proc", _PROCESSES, harmless=True, needs=LINUX, files=RAW
    ),
    Case(
        "leak.sockets",
        "learn where the host listens",
        _SOCKETS,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case("leak.secret_file", "read the file with the key", _SECRET, harmless=True, needs=LINUX, files=RAW),
    Case("leak.usual_places", "open what a user keeps where everybody looks", _USUAL_PLACES, needs=LINUX, files=RAW),
    Case(
        "leak.stat_probe",
        "learn whether a path exists",
        _EXISTS,
        harmless=True,
        exempt=frozenset({"standard"}),
        needs=LINUX,
        files=RAW,
    ),
    Case("leak.listing", "list folders of the host", _LISTING, harmless=True, needs=LINUX, files=RAW),
    Case("leak.evaluator", "import or read the engine and the evaluator", _EVALUATOR, needs=LINUX, files=RAW),
    Case(
        "leak.remembered",
        "learn from the interpreter what lies in a closed folder on its path",
        _REMEMBERED,
        needs=LINUX,
    ),
    Case("leak.terminal", "reach a terminal, and so the user's shell", _TERMINAL, needs=LINUX, files=RAW),
    Case("leak.kernel_log", "read the kernel's log", _KERNEL_LOG, needs=LINUX, files=RAW),
    Case("leak.watch", "be told of what happens to files of the host", _WATCH, harmless=True, needs=LINUX, files=RAW),
)
