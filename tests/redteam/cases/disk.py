"""Candidates that fill the disk, or leave what is hard to remove."""

from evolve.sandbox.status import Status
from tests.redteam.case import Case

_LINUX = frozenset({"linux"})
_NO_QUOTA = frozenset({"standard"})
"""Without namespaces there is no quota on a candidate's folder."""
_CLEAN = """
import os

def attack(told):
    with open("works", "w") as file:
        file.write("yes")
    return [f"found {name!r}" for name in os.listdir(".") if name != "works"]
"""

CASES = (
    Case(
        "disk.fill",
        "reserve 128 MiB for one small file, and write 192 MiB in many",
        """
import ctypes
import os
from guard import boxed

KEEP_SIZE = 1

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    reserved, written = reserve(128 << 20), write(192 << 20)
    achieved = [f"reserved {reserved >> 20} MiB"] if reserved > 96 << 20 else []
    return achieved + ([f"wrote {written >> 20} MiB"] if written > 96 << 20 else [])

def reserve(size):
    file = os.open("small", os.O_RDWR | os.O_CREAT)
    fallocate = getattr(ctypes.CDLL(None), "fallocate", None)
    if fallocate:
        fallocate(file, KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(size))
    held = os.fstat(file).st_blocks * 512
    os.unlink("small")
    os.close(file)
    return held

def write(size):
    written = 0
    try:
        while written < size:
            with open(f"file{written}", "wb", buffering=0) as file:
                for _ in range(16):
                    written += file.write(bytes(1 << 20))
    except OSError:
        pass
    return written
""",
        must="refused beyond the quota",
        dangerous=True,
        exempt=_NO_QUOTA,
        after=_CLEAN,
    ),
    Case(
        "disk.shared_memory",
        "write 192 MiB where programs share memory",
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    written = 0
    try:
        for number in range(12):
            with open(f"/dev/shm/{told['mark']}-{number}", "wb", buffering=0) as file:
                for _ in range(16):
                    written += file.write(bytes(1 << 20))
    except OSError:
        pass
    return [f"wrote {written >> 20} MiB"] if written > 96 << 20 else []
""",
        must="refused beyond the quota, and gone afterwards",
        dangerous=True,
        needs=_LINUX,
        after="""
import glob

def attack(told):
    return [f"found {name}" for name in glob.glob(f"/dev/shm/{told['mark']}*")]
""",
    ),
    Case(
        "disk.inodes",
        "make 9,000 files",
        """
from guard import boxed

def attack(told):
    if not boxed(told):
        return ["not boxed"]
    made = 0
    try:
        for number in range(9000):
            open(f"file{number}", "x").close()
            made += 1
    except OSError:
        pass
    return [f"made {made} files"] if made > 8192 else []
""",
        must="refused beyond the quota, or ended",
        dangerous=True,
        exempt=_NO_QUOTA,
        ends=frozenset({Status.OK, Status.MEMORY_LIMIT}),
        after=_CLEAN,
    ),
    Case(
        "disk.one_big_file",
        "write 50 MiB into one file",
        """
import os

def attack(told):
    try:
        with open("file", "wb", buffering=0) as file:
            for _ in range(50):
                file.write(bytes(1 << 20))
    except OSError:
        pass
    written = os.stat("file").st_size
    return [f"wrote {written >> 20} MiB"] if written > 32 << 20 else []
""",
        must="refused beyond the limit of a file",
        harmless=True,
    ),
    Case(
        "disk.sparse",
        "make a file that says it has 100 GiB",
        """
import os
from guard import tried

def attack(told):
    file = os.open("file", os.O_RDWR | os.O_CREAT)
    return tried("made a file of 100 GiB", os.truncate, file, 100 << 30)
""",
        must="refused beyond the limit of a file",
        harmless=True,
    ),
    Case(
        "disk.deep_tree",
        "leave folders inside one another, 1,200 deep: deeper than a path may be long and than Python recurses",
        """
import os

def attack(told):
    try:
        for _ in range(1200):
            os.mkdir("deeper")
            os.chdir("deeper")
    except OSError:
        pass
    return []
""",
        must="removed",
        after=_CLEAN,
    ),
    Case(
        "disk.names",
        "leave files whose names are no text, lead elsewhere or move the cursor",
        r"""
import os

def attack(told):
    names = [b"\xff\xfe", b"a\nb", b"\x1b[2J\x1b[31m", b"-rf", b" ", b"...", b"..\\..\\x", b"x" * 255, "\u202egnp.".encode()]
    for name in names:
        os.mkdir(b"in " + name[:250])
        with open(name, "wb") as file:
            file.write(name)
    return []
""",
        must="removed",
        after=_CLEAN,
    ),
    Case(
        "disk.closed_folders",
        "leave folders that nobody may enter, its own among them",
        """
import os
from guard import tried

def attack(told):
    os.makedirs("a/b/c")
    for path in ("a/b/c", "a/b", "a", "."):
        tried("closed", os.chmod, path, 0)
    return []
""",
        must="removed",
        after=_CLEAN,
    ),
    Case(
        "disk.own_folder",
        "move its own folder away and put a link to a folder of the host in its place",
        """
import os
from guard import tried

def attack(told):
    here = os.getcwd()
    tried("moved", os.rename, here, here + "-moved")
    tried("removed", os.rmdir, here)
    tried("linked", os.symlink, told["folder"], here)
    return []
""",
        must="a fresh folder, the host's untouched",
        after=_CLEAN,
    ),
    Case(
        "disk.odd_files",
        "leave pipes, sockets, links to nothing, to themselves and to the host",
        """
import os
import socket

def attack(told):
    os.mkfifo("pipe")
    os.symlink("loop", "loop")
    os.symlink("nowhere", "link")
    os.symlink(told["folder"], "folder")
    os.symlink("/", "root")
    try:
        socket.socket(socket.AF_UNIX).bind("socket")
    except OSError:
        pass
    return []
""",
        must="removed, nothing followed",
        after=_CLEAN,
    ),
    Case(
        "disk.immutable",
        "make a file that nobody can remove",
        """
import array
import fcntl
import os
from guard import tried

SET_FLAGS, IMMUTABLE = 0x40086602, 0x10

def attack(told):
    file = os.open("file", os.O_RDWR | os.O_CREAT)
    achieved = tried("made a file that nobody can remove", fcntl.ioctl, file, SET_FLAGS, array.array("l", [IMMUTABLE]))
    tried("went back", fcntl.ioctl, file, SET_FLAGS, array.array("l", [0]))
    return achieved
""",
        harmless=True,
        needs=_LINUX,
    ),
    Case(
        "fd.exhaust",
        "open files until there is no number left",
        """
import os

def attack(told):
    opened = 0
    try:
        for _ in range(1000):
            os.open(os.devnull, os.O_RDONLY)
            opened += 1
    except OSError:
        pass
    return [f"opened {opened} files"] if opened > 256 else []
""",
        must="refused at the limit, the answer still arrives",
        harmless=True,
    ),
)
