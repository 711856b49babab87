"""What hostile programs have in common: system calls by number, and looking for the word that none may learn.

Invariant: it is text that stands before a program's own, so that every program is complete in itself; nothing here runs in the host."""

from typing import Final

RAW: Final = '''\
import ctypes, errno, hashlib, os, platform, re, signal, socket, struct

_LIBC = ctypes.CDLL(None, use_errno=True)
_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
_NUMBERS = {
    "ptrace": (101, 117), "syslog": (103, 116), "capget": (125, 90), "chroot": (161, 51), "acct": (163, 89),
    "mount": (165, 40), "swapon": (167, 224), "reboot": (169, 142), "sethostname": (170, 161), 
    "init_module": (175, 105), "tkill": (200, 130), "mq_open": (240, 180), "mq_unlink": (241, 181), "kexec_load": (246, 104),
    "add_key": (248, 217), "keyctl": (250, 219), "inotify_add_watch": (254, 27), "unshare": (272, 97),
    "get_robust_list": (274, 100), "move_pages": (279, 239), "perf_event_open": (298, 241), "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "setns": (308, 268), "process_vm_readv": (310, 270),
    "kcmp": (312, 272), "finit_module": (313, 273), "memfd_create": (319, 279), "bpf": (321, 280), "execveat": (322, 281),
    "userfaultfd": (323, 282), "shmget": (29, 194), "shmctl": (31, 195), "clone": (56, 220), "semget": (64, 190),
    "semctl": (66, 191), "msgget": (68, 186), "msgctl": (71, 187), "umount2": (166, 39), "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "ioprio_set": (251, 30), "ioprio_get": (252, 31), "inotify_init1": (294, 26),
    "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "open_tree": (428, 428), "fsopen": (430, 430),
    "pidfd_open": (434, 434), "clone3": (435, 435), "openat2": (437, 437), "pidfd_getfd": (438, 438),
    "process_madvise": (440, 440),
}

def call(name, *arguments):
    """A system call; raises OSError. Integers are passed as 64 bits, bytes as a pointer."""
    if _COLUMN is None:
        raise OSError(errno.ENOSYS, name)
    passed = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = _LIBC.syscall(ctypes.c_long(_NUMBERS[name][_COLUMN]), *passed)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result

def attempt(words, act):
    """The words, where what was attempted gives something that is true; nothing where it was refused."""
    try:
        return [words] if act() else []
    except (OSError, ValueError):
        return []

def in_child(act):
    """What a child process achieves, so that this one stays as it is; nothing where the child was killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, "\\n".join(act()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as achieved:
        words = achieved.read().split("\\n")
    os.waitpid(pid, 0)
    return [word for word in words if word]

def read(path, most=1 << 20):
    """The first bytes of a file."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return os.read(number, most)
    finally:
        os.close(number)

def opened(path, flags):
    """Whether a file can be opened; it is closed again at once."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    return True

def learned(data, told):
    """Whether the word that none may learn is among these bytes."""
    found = set(re.findall(rb"[0-9A-Za-z_-]{12,}", data))
    return any(hashlib.sha256(word).hexdigest() == told["word"] for word in found)

def strangers(told):
    """Processes that are no business of ours: our parent, and two of the host, as far as their numbers are not our own."""
    return [pid for pid in (os.getppid(), told["sibling"], told["engine"]) if pid not in (0, os.getpid())]
'''
"""Begins every hostile program that needs it."""
