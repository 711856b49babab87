"""Runs a command as another user, and in places that give less than this machine does: what Docker's defaults leave, or no Landlock.

    python tests/redteam/places.py [--user NUMBER] [--docker] [--no-landlock] -- COMMAND...

To be run as root. Everything happens in a mount namespace of its own and to processes of its own; the machine stays as it is. Invariant:
the command runs in exactly the place that was asked for, or not at all: then the exit code is 77 and the last line says why.

Facts on Docker's defaults: https://github.com/moby/profiles/blob/main/seccomp/default.json (what needs CAP_SYS_ADMIN and is therefore
refused), https://docs.docker.com/engine/containers/run/#runtime-privilege-and-linux-capabilities (the capabilities that stay)."""

import argparse
import ctypes
import errno
import os
import platform
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evolve.sandbox import kernel
from evolve.sandbox.kernel import MS_BIND, MS_PRIVATE, MS_RDONLY, MS_REC, MS_REMOUNT

_PR_CAPBSET_READ = 23
UNABLE = 77
"""The exit code where the place cannot be made."""
HOMES = tuple(Path(place) for place in ("/mnt", "/media", "/srv"))
REPOSITORY = Path(__file__).resolve().parents[2]

DOCKER_CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
"""chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod, audit_write, setfcap."""
DOCKER_READ_ONLY = ("/sys", "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")

PR_SET_SECCOMP = 22
NEW_NAMESPACES = 0x7E020000
CLONE = 56
CLONE3 = 435
VSOCK_SOCKET = (41, 40)
"""The number of `socket`, and the family that Docker keeps back."""
DOCKER_DENIED = {
    "ptrace": 101,
    "syslog": 103,
    "pivot_root": 155,
    "acct": 163,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "swapoff": 168,
    "reboot": 169,
    "sethostname": 170,
    "setdomainname": 171,
    "init_module": 175,
    "delete_module": 176,
    "quotactl": 179,
    "kexec_load": 246,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "unshare": 272,
    "perf_event_open": 298,
    "fanotify_init": 300,
    "open_by_handle_at": 304,
    "setns": 308,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "kcmp": 312,
    "finit_module": 313,
    "kexec_file_load": 320,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
}
"""On x86_64."""
LANDLOCK = {"landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446}
"""On every machine."""


def main() -> None:
    """Makes the place and becomes the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", type=int, default=0, metavar="NUMBER", help="its number; it needs no account")
    parser.add_argument("--docker", action="store_true", help="what a container has by Docker's defaults")
    parser.add_argument("--no-landlock", action="store_true", help="a kernel without Landlock")
    parser.add_argument("command", nargs="+")
    told = parser.parse_args()
    try:
        _make(told.user, told.docker, told.no_landlock)
    except OSError as error:
        print(f"this place cannot be made here: {error}", file=sys.stderr)
        sys.exit(UNABLE)
    os.execv(told.command[0], told.command)


def _make(user: int, docker: bool, no_landlock: bool) -> None:
    if os.geteuid() != 0:
        raise OSError(errno.EPERM, "it takes root to become other users")
    if docker and platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, "the numbers of Docker's calls are known for x86_64 alone")
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "none", MS_REC | MS_PRIVATE)
    if user or docker:  # what an image brings is open to all its users
        _open_the_way(needed())
    if user:
        _give_a_home(user)
    if docker:
        _make_read_only(DOCKER_READ_ONLY)
        for number in range(64):
            if number not in DOCKER_CAPABILITIES and _is_bounding(number):
                kernel.prctl(kernel.PR_CAPBSET_DROP, number)
    # The filter before the rights that it takes to set one are gone; what comes after is not in it.
    _filter(_answers(docker, no_landlock), docker)
    if docker:
        _keep_capabilities(DOCKER_CAPABILITIES)
    if user:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


def needed() -> set[Path]:
    """The folders without which the command does not run."""
    return {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, REPOSITORY)}


def closed(place: Path) -> Path | None:
    """The first folder on the way that only its owner may pass, or None."""
    ways = [*reversed(place.parents), place]
    return next((way for way in ways if not way.stat().st_mode & stat.S_IXOTH), None)


def _open_the_way(places: Iterable[Path]) -> None:
    """Puts an open folder in the place of each closed one, with nothing in it but the way to what is needed."""
    behind: dict[Path, dict[Path, int]] = {}
    for place in sorted(places):
        if (door := closed(place)) is not None:
            behind.setdefault(door, {})[place] = os.open(place, os.O_PATH)
    for door, kept in behind.items():
        if door in kept:
            raise OSError(errno.EACCES, f"{door} is needed itself, and is closed to other users")
        kernel.mount("none", str(door), "tmpfs", 0, "mode=755")
        for place, number in kept.items():
            place.mkdir(parents=True, exist_ok=True)
            kernel.mount(f"/proc/self/fd/{number}", str(place), "none", MS_BIND | MS_REC)
            os.close(number)


def _give_a_home(user: int) -> None:
    """A folder in memory, over one that is there for mounting and that nobody needs; it goes with this namespace."""
    for home in HOMES:
        if home.is_dir() and not any(place.is_relative_to(home) for place in needed()):
            kernel.mount("none", str(home), "tmpfs", 0, f"mode=700,uid={user},gid={user},size=64m")
            os.environ.update(HOME=str(home), USER=str(user), LOGNAME=str(user))
            return
    raise OSError(errno.ENOENT, "no folder is free to be another user's home")


def _make_read_only(places: Iterable[str]) -> None:
    """These, and all that is mounted below them."""
    for place in places:
        if not Path(place).exists():
            continue
        if not os.path.ismount(place):
            kernel.mount(place, place, "none", MS_BIND)
        for mounted in _mounts(place):
            kernel.mount("none", mounted, "none", MS_REMOUNT | MS_BIND | MS_RDONLY)


def _mounts(place: str) -> list[str]:
    with open("/proc/self/mounts") as listed:
        found = {line.split()[1] for line in listed}
    return sorted(mounted for mounted in found if mounted == place or mounted.startswith(f"{place}/"))


def _is_bounding(number: int) -> bool:
    try:
        return kernel.prctl(_PR_CAPBSET_READ, number) == 1
    except OSError:  # this kernel has fewer
        return False


def _keep_capabilities(numbers: Iterable[int]) -> None:
    mask = sum(1 << number for number in numbers)
    halves = (mask & 0xFFFFFFFF, mask >> 32)
    header = struct.pack("=II", 0x20080522, 0)
    held = struct.pack("=6I", halves[0], halves[0], 0, halves[1], halves[1], 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, held):
        raise OSError(ctypes.get_errno(), "capset")


def _answers(docker: bool, no_landlock: bool) -> dict[int, int]:
    """The errors by which calls are refused, by the calls' numbers."""
    found = dict.fromkeys(DOCKER_DENIED.values(), errno.EPERM) | {CLONE3: errno.ENOSYS} if docker else {}
    return found | (dict.fromkeys(LANDLOCK.values(), errno.ENOSYS) if no_landlock else {})


def _filter(answers: Mapping[int, int], docker: bool) -> None:
    """Has the kernel answer these calls so, and Docker's conditions where they are asked for."""
    if not answers:
        return
    code = list(_instructions(answers, docker))
    packed = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *each) for each in code))
    program = struct.pack("@HP", len(code), ctypes.addressof(packed))
    pointer = ctypes.create_string_buffer(program)
    kernel.prctl(PR_SET_SECCOMP, 2, ctypes.addressof(pointer))


def _instructions(answers: Mapping[int, int], docker: bool) -> Iterator[tuple[int, int, int, int]]:
    """Operation, steps where true, steps where false, value. At offset 0 of a call's description stands its number, its first argument at 16."""
    load, equal, any_bit, give = 0x20, 0x15, 0x45, 0x06
    allow, fail = 0x7FFF0000, 0x00050000
    yield load, 0, 0, 0
    for number, error in answers.items():
        yield equal, 0, 1, number
        yield give, 0, 0, fail | error
    if docker:
        socket, family = VSOCK_SOCKET
        for number, test, value in ((CLONE, any_bit, NEW_NAMESPACES), (socket, equal, family)):
            yield equal, 0, 3, number
            yield load, 0, 0, 16
            yield test, 0, 1, value
            yield give, 0, 0, fail | errno.EPERM
            yield load, 0, 0, 0
    yield give, 0, 0, allow


if __name__ == "__main__":
    main()
