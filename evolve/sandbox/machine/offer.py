"""Means that a machine offers by its facts, and those that a command uses: at least the level that is wanted, and the best that there are.

Pure. Whatever is missing comes with its cause and a remedy that a person can follow."""

from dataclasses import dataclass

from evolve.sandbox.machine.host import Host
from evolve.sandbox.means import NOTHING, Means
from evolve.types import Level, SandboxError

PAGE = "docs/sandbox.md"
_ANOTHER = "use another machine, or a virtual machine"
_LINUX = "use Linux, or a virtual machine with Linux"
_CONTAINER = (
    "on a machine or virtual machine that holds nothing of value, start the container with `--security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined`"
)
_DANGER = "At 'reduced' a candidate could read the files and keys of this user, and use the network"

NOT_MORE = "The task ships with evolve and no model writes its programs, so it runs all the same"
"""Why a machine's `reduced` is enough where nobody asked for more."""


@dataclass(frozen=True, slots=True)
class MeanFinding:
    """One mean: whether it is had, its kind in a few words, or the cause for which it is missing and the remedy."""

    mean: str
    had: bool
    told: str = ""
    cause: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Best `means` for candidates in the interpreter `python`, and a finding for each mean."""

    python: str
    means: Means
    findings: tuple[MeanFinding, ...]

    @property
    def level(self) -> Level:
        """Level that the means come to."""
        return self.means.level

    @property
    def missing(self) -> tuple[MeanFinding, ...]:
        """Findings that keep the level below `strict`, the most important first; empty at `strict`."""
        if self.level is Level.STRICT:
            return ()
        lacking = [finding for finding in self.findings if not finding.had and finding.mean != "cgroup"]
        return tuple(lacking)


def offer(host: Host, python: str = "") -> ProbeResult:
    """Returns the means that follow from the facts, before a candidate has tried them."""
    findings = (_namespaces(host), _seccomp(host), _landlock(host), _cgroup(host))
    had = {finding.mean for finding in findings if finding.had}
    means = Means(
        namespaces="namespaces" in had,
        landlock=host.landlock if "landlock" in had else 0,
        seccomp="seccomp" in had,
        cgroup=host.cgroup if "cgroup" in had else "",
    )
    return ProbeResult(python, means, findings)


def choose_means(least: Level, found: ProbeResult) -> Means:
    """Returns the means for a level: `none` is exactly that, any other level is "at least". Raises `SandboxError` where the machine does not reach it."""
    if least is Level.NONE:
        return NOTHING
    if found.level.reaches(least):
        return found.means
    raise SandboxError(explain_unreached(least, found))


def explain_unreached(least: Level, found: ProbeResult) -> str:
    """Returns why a level is not reached, with the remedy."""
    danger = f" {_DANGER}." if found.level is Level.REDUCED else ""
    accept = f"or accept it on a machine that holds nothing of value: --sandbox {found.level}"
    return (
        f"candidates are to be isolated at least at {str(least)!r}, and this machine reaches {str(found.level)!r}: {describe_causes(found)}."
        f"{danger} Try: {describe_remedies(found)}; {accept}. {PAGE} has the ways, `evolve sandbox probe` the details"
    )


def describe_means(found: ProbeResult, means: Means) -> str:
    """Returns the line for the beginning of a run: the level and its means; below `strict` also what is missing, why, and the remedy. `means`
    are those that were chosen of `found`."""
    if means.level is Level.STRICT:
        return means.line
    causes = describe_causes(found)
    return f"{means.line}. {causes[:1].upper()}{causes[1:]}. To get strict: {describe_remedies(found)}"


def describe_causes(found: ProbeResult) -> str:
    """Returns each cause once, such as `no namespaces (the kernel refuses them)`."""
    means: dict[str, list[str]] = {}
    for finding in found.missing:
        # A machine at `standard` that gets namespaces is strict, with Landlock or without.
        if finding.mean != "landlock" or found.level is not Level.STANDARD:
            means.setdefault(finding.cause, []).append(finding.mean)
    return ", ".join(f"no {' and '.join(names)} ({cause})" for cause, names in means.items())


def describe_remedies(found: ProbeResult) -> str:
    """Returns each remedy once, without that for Landlock: a machine can be strict without it."""
    wanted = [finding.remedy for finding in found.missing if finding.mean != "landlock"]
    return ", and ".join(dict.fromkeys(wanted))


def _finding(host: Host, mean: str, told: str, cause: str, remedy: str) -> MeanFinding:
    """Returns the finding on a mean: had, in the words `told`, or missing where these are empty."""
    if told:
        return MeanFinding(mean, True, told)
    if host.system != "linux":
        return MeanFinding(mean, False, cause="only Linux has it", remedy=_LINUX)
    return MeanFinding(mean, False, cause=cause, remedy=remedy)


def _namespaces(host: Host) -> MeanFinding:
    had = "mount, pid, net, ipc" if host.chooses_user else "user, mount, pid, net, ipc"
    return _finding(host, "namespaces", "" if host.namespaces else had, *_refusal(host))


def _refusal(host: Host) -> tuple[str, str]:
    """Returns the cause for which a Linux refuses namespaces, and the remedy."""
    cause = f"the kernel refuses them: {host.namespaces}"
    for switch, value in (("user/max_user_namespaces", 15000), ("kernel/unprivileged_userns_clone", 1)):
        if host.switches.get(switch) == "0":
            name = switch.replace("/", ".")
            return f"{cause}; {name} is 0", f"as root: `sysctl -w {name}={value}`"
    if host.container or host.filtered:
        return f"{cause}, in a container or under a service's system call filter", f"{_CONTAINER}; {PAGE} has more ways"
    if host.switches.get("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            f"{cause}; AppArmor keeps programs without a profile from them (kernel.apparmor_restrict_unprivileged_userns is 1)",
            f"add an AppArmor profile with `userns,` for this Python ({PAGE} has one), or run as root",
        )
    return cause, f"run as root, or in a virtual machine; {PAGE} has more ways"


def _seccomp(host: Host) -> MeanFinding:
    cause, remedy = "the kernel takes no system call filter", _ANOTHER
    if host.architecture != "x86_64":
        cause = f"the filter is written for x86_64, and this machine is {host.architecture}"
        remedy = "use a machine with x86_64"
    return _finding(host, "seccomp", f"a filter for {host.architecture}" if host.seccomp else "", cause, remedy)


def _landlock(host: Host) -> MeanFinding:
    if host.landlock_error.endswith("Operation not supported"):
        cause, remedy = "it is not switched on", "boot with `landlock` in the kernel's `lsm=` list"
    elif host.container or host.filtered:
        cause = "the kernel has none, or the container's system call filter keeps it back"
        remedy = f"use Linux 5.13 or newer and a newer container engine, or {_CONTAINER}"
    else:
        cause, remedy = "this kernel has none", "use Linux 5.13 or newer that is built with it"
    told = f"version {host.landlock}" if host.landlock else ""
    return _finding(host, "landlock", told, f"{cause}: {host.landlock_error}", remedy)


def _cgroup(host: Host) -> MeanFinding:
    cause = f"{host.cgroup_error or 'none may be written'}; memory is watched instead, and may overshoot for a moment"
    remedy = "none is needed; for a hard bound run as root, or in a scope of your own: `systemd-run --user --scope -p Delegate=yes evolve ...`"
    return _finding(host, "cgroup", host.cgroup, cause, remedy)
