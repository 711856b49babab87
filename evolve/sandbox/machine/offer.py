"""From the facts of a machine to the means that it offers, each missing one with its cause and its remedy.

Pure. Invariant: whatever is missing has a cause, and a remedy that a person can follow; nothing is promised that the facts do not show."""

from dataclasses import dataclass

from evolve.sandbox.machine.host import Host
from evolve.sandbox.means import Means

PAGE = "docs/sandbox.md"
_ANOTHER = "use another machine, or a virtual machine"
_LINUX = "use Linux, or a virtual machine with Linux"
_CONTAINER = (
    "on a machine or virtual machine that holds nothing of value, start the container with `--security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined`"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One mean: whether it is had, what there is of it in a few words, or why it is missing and what to do."""

    mean: str
    had: bool
    told: str = ""
    cause: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """The best means that a machine seems to offer, before a candidate has tried them, and what was found of each."""

    means: Means
    findings: tuple[Finding, ...]


def offer(host: Host) -> Offer:
    """What follows from the facts."""
    findings = (_namespaces(host), _seccomp(host), _landlock(host), _cgroup(host), _interpreter(host))
    had = {finding.mean for finding in findings if finding.had}
    means = Means(
        namespaces="namespaces" in had,
        landlock=host.landlock if "landlock" in had else 0,
        seccomp="seccomp" in had,
        cgroup=host.cgroup if "cgroup" in had else "",
    )
    return Offer(means, findings)


def _namespaces(host: Host) -> Finding:
    name = "namespaces"
    if not host.namespaces:
        return Finding(name, True, "mount, pid, net, ipc" if host.chooses_user else "user, mount, pid, net, ipc")
    if host.system != "linux":
        return Finding(name, False, cause="only Linux has them", remedy=_LINUX)
    return Finding(name, False, "", *_refusal(host))


def _refusal(host: Host) -> tuple[str, str]:
    """Why a Linux refuses namespaces, and what to do."""
    said = f"the kernel refuses them: {host.namespaces}"
    if host.switches.get("user/max_user_namespaces") == "0":
        return f"{said}; user.max_user_namespaces is 0", "as root: `sysctl -w user.max_user_namespaces=15000`"
    if host.switches.get("kernel/unprivileged_userns_clone") == "0":
        return (
            f"{said}; kernel.unprivileged_userns_clone is 0",
            "as root: `sysctl -w kernel.unprivileged_userns_clone=1`",
        )
    if host.container or host.filtered:
        return f"{said}, in a container or under a service's system call filter", f"{_CONTAINER}; {PAGE} has more ways"
    if host.switches.get("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            f"{said}; AppArmor keeps programs without a profile from them (kernel.apparmor_restrict_unprivileged_userns is 1)",
            f"add an AppArmor profile with `userns,` for this Python ({PAGE} has one), or run as root",
        )
    return said, f"run as root, or in a virtual machine; {PAGE} has more ways"


def _seccomp(host: Host) -> Finding:
    name = "seccomp"
    if host.seccomp:
        return Finding(name, True, f"a filter for {host.architecture}")
    if host.system != "linux":
        return Finding(name, False, cause="only Linux has it", remedy=_LINUX)
    if host.architecture != "x86_64":
        return Finding(
            name,
            False,
            cause=f"the filter is written for x86_64, and this machine is {host.architecture}",
            remedy="use a machine with x86_64",
        )
    return Finding(name, False, cause="the kernel takes no system call filter", remedy=_ANOTHER)


def _landlock(host: Host) -> Finding:
    name = "landlock"
    if host.landlock:
        return Finding(name, True, f"version {host.landlock}")
    if host.system != "linux":
        return Finding(name, False, cause="only Linux has it", remedy=_LINUX)
    if host.landlock_error.endswith("Operation not supported"):
        cause, remedy = "it is not switched on", "boot with `landlock` in the kernel's `lsm=` list"
    elif host.container or host.filtered:
        cause = "the kernel has none, or the container's system call filter keeps it back"
        remedy = f"use Linux 5.13 or newer and a newer container engine, or {_CONTAINER}"
    else:
        cause, remedy = "this kernel has none", "use Linux 5.13 or newer that is built with it"
    return Finding(name, False, cause=f"{cause}: {host.landlock_error}", remedy=remedy)


def _cgroup(host: Host) -> Finding:
    name = "cgroup"
    if host.cgroup:
        return Finding(name, True, host.cgroup)
    if host.system != "linux":
        return Finding(name, False, cause="only Linux has it", remedy=_LINUX)
    return Finding(
        name,
        False,
        cause=f"{host.cgroup_error or 'none may be written'}; memory is watched instead, and may overshoot for a moment",
        remedy="none is needed; for a hard bound run as root, or in a scope of your own: `systemd-run --user --scope -p Delegate=yes evolve ...`",
    )


def _interpreter(host: Host) -> Finding:
    """Root's candidates run as another user, who must reach it; a private root shows it to them wherever it lies."""
    name = "interpreter"
    if not host.chooses_user or not host.closed:
        return Finding(name, True, "candidates reach it")
    if not host.namespaces:
        return Finding(name, True, f"below {host.closed}, which is closed to others; reached by a private mount")
    return Finding(
        name,
        False,
        cause=f"it lies below {host.closed}, which users other than root may not enter, and there are no namespaces for a private mount",
        remedy="make the environment in a folder that is open to all users",
    )
