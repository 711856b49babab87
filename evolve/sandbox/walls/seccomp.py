"""System calls that a candidate may make, and what the others answer: a seccomp filter for x86_64.

Standard library and siblings only, for it lives in the template. It closes what neither Landlock nor namespaces close (sockets of every kind, kernel
interfaces that few programs need) and, where those are missing or old, some of what they would have closed; `Filter` says which.
Every call that is known stands exactly once in `table`, and a call that is not known does not exist."""

import ctypes
import errno
import functools
import platform
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from evolve.sandbox import kernel
from evolve.sandbox.walls.bpf import ALL_BITS, ALLOW, SUCCEED, Verdict, When, assemble, fail

_FROM_0 = """
read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
rt_sigreturn ioctl pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise
shmget shmat shmctl dup dup2 pause nanosleep getitimer alarm setitimer getpid sendfile socket connect accept
sendto recvfrom sendmsg recvmsg shutdown bind listen getsockname getpeername socketpair setsockopt getsockopt
clone fork vfork execve exit wait4 kill uname semget semop semctl shmdt msgget msgsnd msgrcv msgctl fcntl flock
fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir creat link unlink symlink
readlink chmod fchmod chown fchown lchown umask gettimeofday getrlimit getrusage sysinfo times ptrace getuid
syslog getgid setuid setgid geteuid getegid setpgid getppid getpgrp setsid setreuid setregid getgroups setgroups
setresuid getresuid setresgid getresgid getpgid setfsuid setfsgid getsid capget capset rt_sigpending
rt_sigtimedwait rt_sigqueueinfo rt_sigsuspend sigaltstack utime mknod uselib personality ustat statfs fstatfs
sysfs getpriority setpriority sched_setparam sched_getparam sched_setscheduler sched_getscheduler
sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock munlock mlockall munlockall vhangup
modify_ldt pivot_root _sysctl prctl arch_prctl adjtimex setrlimit chroot sync acct settimeofday mount umount2
swapon swapoff reboot sethostname setdomainname iopl ioperm create_module init_module delete_module
get_kernel_syms query_module quotactl nfsservctl getpmsg putpmsg afs_syscall tuxcall security gettid readahead
setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr
lremovexattr fremovexattr tkill time futex sched_setaffinity sched_getaffinity set_thread_area io_setup
io_destroy io_getevents io_submit io_cancel get_thread_area lookup_dcookie epoll_create epoll_ctl_old
epoll_wait_old remap_file_pages getdents64 set_tid_address restart_syscall semtimedop fadvise64 timer_create
timer_settime timer_gettime timer_getoverrun timer_delete clock_settime clock_gettime clock_getres
clock_nanosleep exit_group epoll_wait epoll_ctl tgkill utimes vserver mbind set_mempolicy get_mempolicy mq_open
mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr kexec_load waitid add_key request_key keyctl
ioprio_set ioprio_get inotify_init inotify_add_watch inotify_rm_watch migrate_pages openat mkdirat mknodat
fchownat futimesat newfstatat unlinkat renameat linkat symlinkat readlinkat fchmodat faccessat pselect6 ppoll
unshare set_robust_list get_robust_list splice tee sync_file_range vmsplice move_pages utimensat epoll_pwait
signalfd timerfd_create eventfd fallocate timerfd_settime timerfd_gettime accept4 signalfd4 eventfd2
epoll_create1 dup3 pipe2 inotify_init1 preadv pwritev rt_tgsigqueueinfo perf_event_open recvmmsg fanotify_init
fanotify_mark prlimit64 name_to_handle_at open_by_handle_at clock_adjtime syncfs sendmmsg setns getcpu
process_vm_readv process_vm_writev kcmp finit_module sched_setattr sched_getattr renameat2 seccomp getrandom
memfd_create kexec_file_load bpf execveat userfaultfd membarrier mlock2 copy_file_range preadv2 pwritev2
pkey_mprotect pkey_alloc pkey_free statx io_pgetevents rseq
"""
_FROM_424 = """
pidfd_send_signal io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount
fspick pidfd_open clone3 close_range openat2 pidfd_getfd faccessat2 process_madvise epoll_pwait2 mount_setattr
quotactl_fd landlock_create_ruleset landlock_add_rule landlock_restrict_self memfd_secret process_mrelease
futex_waitv set_mempolicy_home_node cachestat fchmodat2 map_shadow_stack futex_wake futex_wait futex_requeue
statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules mseal setxattrat getxattrat listxattrat
removexattrat open_tree_attr file_getattr file_setattr listns rseq_slice_yield
"""

NUMBERS = {
    **{name: number for number, name in enumerate(_FROM_0.split())},
    **{name: number for number, name in enumerate(_FROM_424.split(), 424)},
}
"""Each call's number on x86_64."""
MACHINES = ("x86_64",)
"""For these there is a table."""
AUDIT_ARCH_X86_64 = 0xC000003E
X32 = 0x40000000
"""Numbers from here on are another set of calls on the same machine, by which a filter is easily passed."""
OWN = 0x5EC0FFEE
"""Stands in the program for the number of the process that will enter; no process has it."""
_MINUS_OWN = -OWN & ALL_BITS
_SET_MODE_FILTER, _SPECULATION_ALLOWED = 1, 4
"""The second leaves the processor's speculation as it is, as every kernel from 5.16 on does anyway: older ones would slow the candidate down, to
protect what is in its own memory."""

_EPERM, _EACCES, _ENOSYS = fail(errno.EPERM), fail(errno.EACCES), fail(errno.ENOSYS)
_ENOTTY, _ENOTSUP, _EINVAL = fail(errno.ENOTTY), fail(errno.EOPNOTSUPP), fail(errno.EINVAL)

_NEW_NAMESPACES = 0x7E020000
_CLONE_PARENT, _CLONE_PTRACE, _CLONE_THREAD = 0x8000, 0x2000, 0x10000
_O_TRUNC, _ACCESS, _WRITING = 0o1000, 3, (1, 2)
_FILE_KIND, _REGULAR, _FIFO = 0o170000, 0o100000, 0o010000
_UNIX, _INET, _INET6 = 1, 2, 10
_SOCKET_KIND, _STREAM, _DATAGRAM, _SEQPACKET = 0xF, 1, 2, 5
_TCP, _UDP = 6, 17
_SOL_SOCKET, _ATTACHED_PROGRAMS = 1, (26, 50, 51, 52)
_SET_OWNER, _SET_SIGNAL, _SET_OWNER_EX, _SET_LEASE, _NOTIFY = 8, 10, 15, 1024, 1026
_SET_HINT, _SET_DELEGATION = 1036, 1040
_FOURS = 0xFFFFFFFC
_ON_OWN_MEMORY, _OTHER_OWN, _WILL_READ = (4, 8, 16), (14, 15, 102, 103), (0,)
"""By fours DONTNEED, FREE to DOFORK, and DONTDUMP to KEEPONFORK; HUGEPAGE, NOHUGEPAGE, GUARD_INSTALL and GUARD_REMOVE; by fours NORMAL to WILLNEED. What
is not among them throws out pages of files, brings them in or merges them: COLD, PAGEOUT, POPULATE_READ, COLLAPSE, MERGEABLE and so on."""
_PR_SET_MM, _PR_SCHED_CORE = 35, 62
_MFD_EXEC = 0x10
_LIMIT_CORE = 4
_LOCKS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW and the same for open files."""
_NEW_LISTENER = 8
_TERMINAL = (0x5401, 0x540F, 0x5411, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452, 0x5460)
"""TCGETS, TIOCGPGRP, TIOCOUTQ, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIOASYNC, FIOQSIZE."""
_COPYING = (0x40049409, 0x4020940D, 0xC020660B, 0x80086601)
"""FICLONE, FICLONERANGE, FS_IOC_FIEMAP, FS_IOC_GETFLAGS."""
_OF_DEVICES = tuple(kind << 8 for kind in (0x00, 0x46, 0x47, 0x4B, 0x64, 0x6D))
"""Kinds of `ioctl` that are a GPU's: NVIDIA's memory (it numbers from 0) and devices, Windows' adapter, AMD's compute, the kernel's graphics, NVIDIA's modes.
What is not among them with no grant: words put into another's terminal, attributes and subvolumes of file systems, owners of sockets."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Calls that the filter lets through. Granted: `execute` programs, `memfd` files in memory, `loopback` sockets of TCP and UDP, `gpu` the
    devices' own `ioctl` (and memfd, which its driver needs), `processes` further ones and not threads alone.

    Held back here since nothing else does it: `truncate` of files that may not be written (where Landlock is below 3), `signals` to
    other processes than the own one and the group that it leads (neither a pid namespace nor Landlock 6), `metadata`, that is changes of modes, owners and times (where
    files of the same user are in sight; Landlock has no such right). Such a change succeeds and is not made: `cp -p`, `tar`, `shutil.copy` go on,
    while a refusal would end them."""

    execute: bool = True
    memfd: bool = False
    loopback: bool = False
    gpu: bool = False
    truncate: bool = False
    signals: bool = False
    metadata: bool = False
    processes: bool = True


Table: TypeAlias = Mapping[str, Verdict]
"""Verdicts of calls, by their names with spaces between."""


class _Offered(ctypes.Structure):
    """`struct sock_fprog`: how many instructions, and where they are."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def is_supported() -> bool:
    """Returns whether this machine has a table and this kernel takes a filter. Asking changes nothing: the program that is offered lies nowhere."""
    if not kernel.LINUX or platform.machine() not in MACHINES or sys.maxsize < 1 << 32:
        return False
    try:
        kernel.syscall("seccomp", NUMBERS["seccomp"], _SET_MODE_FILTER, _SPECULATION_ALLOWED, ctypes.c_void_p())
    except OSError as error:
        return error.errno == errno.EFAULT
    return False


def program(wanted: Filter, own_pid: int = 0) -> bytes:
    """The program to `enter`. It is assembled once for each `Filter`; `own_pid` is the number of the process that will enter, and counts
    only where `signals` are held back: without it, no signal goes anywhere but to the own group."""
    parts = _parts(wanted)
    if len(parts) == 1:
        _offer(parts[0])  # made here, it need not be made in each fork
        return parts[0]
    here, there = (value.to_bytes(4, sys.byteorder) for value in (own_pid, -own_pid & ALL_BITS))
    return b"".join((parts[0], here, parts[1], there, parts[2]))


def enter(made: bytes) -> None:
    """Holds this process, of one thread, and all its future children to the program, for good. Raises `OSError`: EACCES without
    `PR_SET_NO_NEW_PRIVS`."""
    offered = ctypes.byref(_offer(made))
    kernel.syscall("seccomp", NUMBERS["seccomp"], _SET_MODE_FILTER, _SPECULATION_ALLOWED, offered)


@functools.lru_cache(maxsize=8)
def _offer(made: bytes) -> _Offered:
    return _Offered(len(made) // 8, made)


@functools.cache
def _parts(wanted: Filter) -> tuple[bytes, ...]:
    """The program, in three parts where the own number and its negative have to stand between them."""
    verdicts = {NUMBERS[name]: verdict for names, verdict in table(wanted).items() for name in names.split()}
    made = assemble(AUDIT_ARCH_X86_64, verdicts, _ENOSYS, X32)
    values = [value for _, _, _, value in struct.iter_unpack("=HBBI", made)]
    if OWN not in values:
        return (made,)
    here, there = (8 * values.index(value) + 4 for value in (OWN, _MINUS_OWN))
    return made[:here], made[here + 4 : there], made[there + 4 :]


def table(wanted: Filter) -> Table:
    """Returns the verdicts of all calls that are known."""
    return {**_USUAL, **_ABSENT, **_DENIED, **_decide_by_arguments(wanted), **_grant(wanted), **_hold_back(wanted)}


_USUAL: Table = {
    # work on descriptors that the process has: what they are was decided when they were opened
    (
        "read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3 pipe pipe2 sendfile splice "
        "tee vmsplice copy_file_range fallocate ftruncate fsync fdatasync sync_file_range poll ppoll select pselect6"
    ): ALLOW,
    # files: Landlock or the private root decides where; whether a path exists is not hidden by Landlock
    (
        "creat stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd "
        "chdir fchdir umask rename renameat renameat2 mkdir mkdirat rmdir link linkat symlink symlinkat unlink unlinkat"
    ): ALLOW,
    # the own memory; limits bound it
    (
        "mmap munmap mprotect mremap brk msync mlock mlock2 munlock mlockall munlockall remap_file_pages pkey_mprotect pkey_alloc "
        "pkey_free mseal map_shadow_stack get_mempolicy membarrier rseq"
    ): ALLOW,
    # own processes and threads; limits bound their number
    (
        "exit exit_group wait4 waitid getpid gettid getppid getpgrp getpgid setpgid getsid setsid set_tid_address set_robust_list futex "
        "futex_waitv futex_wake futex_wait futex_requeue sched_yield arch_prctl pidfd_open getcpu restart_syscall rseq_slice_yield"
    ): ALLOW,
    # questions about oneself and the machine; limits and capabilities can only be lowered
    (
        "getuid geteuid getgid getegid getgroups getresuid getresgid capget capset getpriority sched_getaffinity sched_getparam sched_getscheduler sched_getattr "
        "sched_get_priority_max sched_get_priority_min sched_rr_get_interval ioprio_get getrlimit getrusage times sysinfo uname getrandom"
    ): ALLOW,
    # how the process takes its own signals
    "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause signalfd signalfd4": ALLOW,
    # clocks are read, and timers wake the process itself
    (
        "time gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep alarm getitimer setitimer timer_create timer_settime timer_gettime "
        "timer_getoverrun timer_delete timerfd_create timerfd_settime timerfd_gettime"
    ): ALLOW,
    # waiting for descriptors: asyncio
    "epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2": ALLOW,
    # talk over a socket that the process has: a pair of its own, or what `loopback` grants
    "sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockname getpeername getsockopt": ALLOW,
    # restrict further, and nothing else
    "landlock_create_ruleset landlock_add_rule landlock_restrict_self": ALLOW,
    # locks a file that may be the host's, for whoever else uses it, and tells another candidate; in scratch nobody else is there
    "flock": SUCCEED,
    # without capabilities there is no user to become but oneself, which `make` and others ask for
    "setuid setgid setreuid setregid setresuid setresgid": ALLOW,
    # make the whole machine wait for its disks; nothing here has to last
    "sync syncfs": SUCCEED,
    # throws files of the machine out of memory, which the next candidate notices
    "fadvise64": SUCCEED,
}

_ABSENT: Table = {
    # its flags lie in memory, where a filter cannot see them; the C library then uses clone
    "clone3": _ENOSYS,
    # old asynchronous input and output: from a stock that the whole machine shares
    "io_setup io_destroy io_getevents io_pgetevents io_submit io_cancel": _ENOSYS,
    # names what others do in folders that Landlock closes; programs poll instead
    "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch": _ENOSYS,
    # tell which files others have read
    "cachestat mincore": _ENOSYS,
    # their flags tell whether a page is in memory, and throw it out; without flags the C library then uses preadv
    "preadv2 pwritev2": _ENOSYS,
    # reads and changes attributes of files that Landlock closes; as on a file system without them
    (
        "setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr removexattr lremovexattr fremovexattr "
        "setxattrat getxattrat listxattrat removexattrat file_getattr file_setattr"
    ): _ENOTSUP,
    # as `fadvise64`; nobody needs its success
    "readahead": _ENOTSUP,
    # gone from the kernel, or never there on this machine
    (
        "_sysctl create_module get_kernel_syms query_module nfsservctl getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old "
        "set_thread_area get_thread_area lookup_dcookie uselib ustat sysfs"
    ): _ENOSYS,
}

_DENIED: Table = {
    # new namespaces, where a process is root again
    "unshare setns": _EPERM,
    # change or list what is mounted
    "mount umount2 pivot_root chroot open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr statmount listmount listns": _EPERM,
    # look into, or reach into, another process
    "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp get_robust_list": _EPERM,
    # large parts of the kernel that hostile code likes; a ring makes system calls that no filter sees
    "bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register fanotify_init fanotify_mark modify_ldt memfd_secret": _EPERM,
    # the keys of the user
    "add_key request_key keyctl": _EPERM,
    # talk to other processes, and memory that outlives its process and that nobody counts
    (
        "shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify "
        "mq_getsetattr"
    ): _EPERM,
    # open files past their folders
    "name_to_handle_at open_by_handle_at": _EPERM,
    # runs what has no name (of a descriptor); programs with a path are run by execve
    "execveat": _EPERM,
    # another user for files alone; further groups
    "setfsuid setfsgid setgroups": _EPERM,
    # takes processors that were given to others, or slows others of the same user
    "setpriority ioprio_set sched_setaffinity sched_setscheduler sched_setparam sched_setattr": _EPERM,
    # where memory lies is the slot's choice; moves pages that others share
    "mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages": _EPERM,
    # runs the machine
    (
        "init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff quotactl quotactl_fd acct syslog iopl ioperm vhangup "
        "settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname lsm_get_self_attr lsm_set_self_attr lsm_list_modules"
    ): _EPERM,
}


def _decide_by_arguments(wanted: Filter) -> Table:
    """Calls whose arguments decide."""
    flags = _NEW_NAMESPACES | _CLONE_PARENT | _CLONE_PTRACE
    siblings = When(0, (0,), ALLOW, _EPERM, mask=flags)
    others = When(2, _OTHER_OWN, ALLOW, _EINVAL)
    marks = (_SET_HINT, _SET_DELEGATION)
    owners = (_SET_OWNER, _SET_SIGNAL, _SET_OWNER_EX, _SET_LEASE, _NOTIFY)
    devices = When(1, _OF_DEVICES, ALLOW, _ENOTTY, mask=0xFF00) if wanted.gpu else _ENOTTY
    return {
        # no namespaces, no siblings, no inherited tracer
        "clone": siblings if wanted.processes else When(0, (_CLONE_THREAD,), siblings, _EPERM, mask=_CLONE_THREAD),
        # no signals to others by way of a descriptor, no leases and hints on files; locks as in `flock`
        "fcntl": When(1, (*owners, *marks), _EPERM, When(1, _LOCKS, SUCCEED, ALLOW)),
        # nothing that touches the pages of files, see `fadvise64`
        "madvise": When(2, _ON_OWN_MEMORY, ALLOW, When(2, _WILL_READ, SUCCEED, others, mask=_FOURS), mask=_FOURS),
        # few are needed; most reach into a driver
        "ioctl": When(1, _TERMINAL + _COPYING, ALLOW, devices),
        # a core for oneself idles the other half
        "prctl": When(0, (_PR_SET_MM, _PR_SCHED_CORE), _EPERM, ALLOW),
        # not that on core dumps, see `CandidateConfinement`
        "setrlimit": When(0, (_LIMIT_CORE,), _EPERM, ALLOW),
        # own limits alone, and not that on core dumps; whether it asks or sets lies in memory
        "prlimit64": When(0, (0,), When(1, (_LIMIT_CORE,), _EPERM, ALLOW), _EPERM),
        # ask, or the usual one; others weaken the memory
        "personality": When(0, (0, ALL_BITS), ALLOW, _EPERM),
        # more filters, but none that others answer
        "seccomp": When(1, (0,), ALLOW, _EPERM, mask=_NEW_LISTENER),
        # no device files
        "mknod": When(1, (0, _REGULAR, _FIFO), ALLOW, _EPERM, mask=_FILE_KIND),
        # no device files
        "mknodat": When(2, (0, _REGULAR, _FIFO), ALLOW, _EPERM, mask=_FILE_KIND),
        # asyncio's and multiprocessing's; a pair of datagram sockets could send to any path
        "socketpair": When(0, (_UNIX,), When(1, (_STREAM, _SEQPACKET), ALLOW, _EPERM, mask=_SOCKET_KIND), _EPERM),
    }


def _grant(wanted: Filter) -> Table:
    """Calls that a task's grants open."""
    protocol = When(2, (0, _TCP, _UDP), ALLOW, _EPERM)
    internet = When(0, (_INET, _INET6), When(1, (_STREAM, _DATAGRAM), protocol, _EPERM, mask=_SOCKET_KIND), _EPERM)
    option = When(1, (_SOL_SOCKET,), When(2, _ATTACHED_PROGRAMS, _EPERM, ALLOW), ALLOW)
    in_memory = When(1, (0,), ALLOW, _EPERM, mask=_MFD_EXEC)
    opened = ALLOW if wanted.loopback else _EPERM
    return {
        # further processes
        "fork vfork": ALLOW if wanted.processes else _EPERM,
        # programs: granted by `execute`
        "execve": ALLOW if wanted.execute else _EPERM,
        # no limit counts them; `memfd`
        "memfd_create": in_memory if wanted.memfd or wanted.gpu else _EPERM,
        # no domain but those of `loopback`
        "socket": internet if wanted.loopback else _EPERM,
        # for sockets of `loopback`
        "connect bind listen accept accept4": opened,
        # no programs in sockets
        "setsockopt": option if wanted.loopback else _EPERM,
    }


def _hold_back(wanted: Filter) -> Table:
    """Calls that the filter confines where no other layer does."""
    own = When(0, (0, OWN, _MINUS_OWN), ALLOW, _EPERM)
    changed = SUCCEED if wanted.metadata else ALLOW
    return {
        # Landlock below 3 lets reading truncate
        "open": _opening(1) if wanted.truncate else ALLOW,
        # Landlock below 3 lets reading truncate
        "openat": _opening(2) if wanted.truncate else ALLOW,
        # its flags lie in memory; programs use openat
        "openat2": _ENOSYS if wanted.truncate else ALLOW,
        # Landlock below 3 does not know it
        "truncate": _EACCES if wanted.truncate else ALLOW,
        # the own process and its group; which others there are, a filter cannot know
        "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo": own if wanted.signals else ALLOW,
        # a descriptor does not show whose it is
        "pidfd_send_signal": _EPERM if wanted.signals else ALLOW,
        # modes, owners and times of files that Landlock closes
        "chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat": changed,
    }


def _opening(argument: int) -> Verdict:
    """`O_TRUNC` only together with writing, which Landlock knows."""
    return When(argument, (0,), ALLOW, When(argument, _WRITING, ALLOW, _EACCES, mask=_ACCESS), mask=_O_TRUNC)
