"""Facts of this machine that decide how candidates can be confined.

Facts alone, each read or really tried; what follows from them is `evolve.sandbox.machine.offer`'s to say."""

import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evolve.sandbox import kernel
from evolve.sandbox.inner import BOOTSTRAP
from evolve.sandbox.machine import identity
from evolve.sandbox.walls import cgroup, landlock, seccomp

SWITCHES = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)
"""Names below /proc/sys that decide who may make a user namespace; not every kernel has each."""
_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
_TRIAL_SECONDS = 20.0
_TRIED_MEMORY, _TRIED_TASKS = 64 << 20, 8
_WAITS = [sys.executable, "-I", "-S", "-c", "input()"]
"""A program that waits until its standard input ends."""
_TRIAL = f"""{BOOTSTRAP}
import sys
try:
    load(sys.argv[1], "evolve.sandbox.walls.root").rehearse(users=bool(sys.argv[2]))
except OSError as error:
    print(": ".join(filter(None, (error.filename, error.strerror))), end="")
"""


@dataclass(frozen=True, slots=True)
class Host:
    """`namespaces`, `landlock_error` and `cgroup_error` say what was refused, empty where nothing was; `landlock` is the version of its interface. `seccomp`:
    there is a filter for this architecture. `chooses_user`: candidates can be another user than the engine. `cgroup` is "v1", "v2" or empty. `switches` are the values of `SWITCHES` that there are. `container`: there
    are signs of one; `filtered`: this process is under a system call filter already."""

    system: str
    architecture: str
    chooses_user: bool = False
    namespaces: str = ""
    landlock: int = 0
    landlock_error: str = ""
    seccomp: bool = False
    cgroup: str = ""
    cgroup_error: str = ""
    switches: Mapping[str, str] = field(default_factory=dict)
    container: bool = False
    filtered: bool = False


def read() -> Host:
    """Returns the facts of this machine."""
    version, error = _landlock()
    group, group_error = try_cgroup()
    return Host(
        system=sys.platform,
        architecture=platform.machine(),
        chooses_user=identity.can_choose(),
        namespaces=_namespaces(),
        landlock=version,
        landlock_error=error,
        seccomp=seccomp.is_supported(),
        cgroup=group,
        cgroup_error=group_error,
        switches={name: text for name in SWITCHES if (text := _text(f"/proc/sys/{name}"))},
        container=any(Path(mark).exists() for mark in _CONTAINER_MARKS),
        filtered="\nSeccomp:\t2" in _text("/proc/self/status"),
    )


def try_cgroup(tree: Path = cgroup.TREE, own: Path = cgroup.OWN) -> tuple[str, str]:
    """Makes a control group, limits it, has a process enter it and removes it, in some 20 ms. Returns its kind, "v1" or "v2", and why there is
    none, of which one is empty. `own` names the groups of this process."""
    place = next(cgroup.places(tree, own), None)
    if place is None:
        return "", f"the system has no control groups for memory below {tree}"
    try:
        group = cgroup.ControlGroup.make(place.kind, _TRIED_MEMORY, _TRIED_TASKS, tree=tree, own=own)
        try:
            with subprocess.Popen(_WAITS, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                group.add(process.pid)
        finally:
            group.close()
    except OSError as error:
        return "", f"no control group can be used: {error}"
    return place.kind, ""


def _namespaces() -> str:
    if not kernel.LINUX:
        return "this system has none"
    # In a process of its own: who has entered namespaces cannot leave them.
    trial = [sys.executable, "-I", "-S", "-c", _TRIAL, str(Path(__file__).parents[2])]
    try:
        tried = subprocess.run(
            [*trial, "" if identity.can_choose() else "users"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the trial failed: {error}"
    return tried.stdout if tried.returncode == 0 else f"the trial failed: {tried.stderr.strip().rpartition(chr(10))[2]}"


def _landlock() -> tuple[int, str]:
    """The version of the interface that is used, and why there is none."""
    version = landlock.version()
    if version or not kernel.LINUX:
        return version, "" if version else "this system has none"
    try:
        landlock.read_version()
    except OSError as error:
        return 0, str(error.strerror)
    return 0, "what the kernel has cannot be used"


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return ""
