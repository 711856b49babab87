"""From the facts of a machine to its means, with causes and remedies."""

from dataclasses import replace

import pytest

from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.offer import MeanFinding, ProbeResult, choose_means, describe_means, offer
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.types import Level, SandboxError

ALL = Host("linux", "x86_64", landlock=7, seccomp=True, cgroup="v2")
REFUSED = "unshare: Operation not permitted"


def finding(host: Host, mean: str) -> MeanFinding:
    """What is said of a mean there."""
    (found,) = [finding for finding in offer(host).findings if finding.mean == mean]
    return found


def test_a_machine_that_has_everything_offers_all_of_it() -> None:
    """And nothing is missing."""
    found = offer(ALL)
    assert found.means == Means(namespaces=True, landlock=7, seccomp=True, cgroup="v2")
    assert [(finding.had, finding.cause, finding.remedy) for finding in found.findings] == [(True, "", "")] * 4


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"landlock": 0}, Level.STRICT),
        ({"cgroup": ""}, Level.STRICT),
        ({"namespaces": REFUSED}, Level.STANDARD),
        ({"namespaces": REFUSED, "landlock": 0}, Level.REDUCED),
        ({"seccomp": False}, Level.REDUCED),
    ],
)
def test_the_level_that_a_missing_mean_leaves(changes: dict[str, object], level: Level) -> None:
    """By the rule of the means alone."""
    assert offer(replace(ALL, **changes)).means.level is level  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "host",
    [
        Host("darwin", "arm64", namespaces="no", landlock_error="no"),
        Host("linux", "aarch64", chooses_user=True, namespaces=REFUSED, landlock_error="Function not implemented"),
        Host("linux", "x86_64", chooses_user=True, namespaces=REFUSED, container=True, landlock_error="x"),
        Host("linux", "x86_64", namespaces=REFUSED, filtered=True),
    ],
)
def test_whatever_is_missing_has_a_cause_and_a_remedy(host: Host) -> None:
    """And what is had, neither."""
    for found in offer(host).findings:
        assert (found.had, bool(found.cause), bool(found.remedy)) in [(True, False, False), (False, True, True)]


@pytest.mark.parametrize(
    ("changes", "cause", "remedy"),
    [
        ({"container": True}, "in a container", "--security-opt seccomp=unconfined"),
        ({"container": True, "switches": {"user/max_user_namespaces": "0"}}, "max_user_namespaces is 0", "sysctl -w"),
        (
            {"container": True, "switches": {"kernel/apparmor_restrict_unprivileged_userns": "1"}},
            "in a container",
            "--security",
        ),
        ({"filtered": True}, "a service's system call filter", "--security-opt seccomp=unconfined"),
        ({"switches": {"user/max_user_namespaces": "0"}}, "max_user_namespaces is 0", "sysctl -w user.max_user"),
        ({"switches": {"kernel/unprivileged_userns_clone": "0"}}, "userns_clone is 0", "sysctl -w kernel.unpriv"),
        ({"switches": {"kernel/apparmor_restrict_unprivileged_userns": "1"}}, "AppArmor", "profile with `userns,`"),
        ({}, "the kernel refuses them: unshare: Operation not permitted", "run as root"),
    ],
)
def test_why_namespaces_are_refused(changes: dict[str, object], cause: str, remedy: str) -> None:
    """The most likely reason is told, with what to do about it."""
    found = finding(replace(ALL, namespaces=REFUSED, **changes), "namespaces")  # type: ignore[arg-type]
    assert (cause in found.cause, remedy in found.remedy) == (True, True), found


@pytest.mark.parametrize(
    ("changes", "cause", "remedy"),
    [
        ({"landlock_error": "landlock_create_ruleset: Operation not supported"}, "not switched on", "`lsm=` list"),
        ({"landlock_error": "Operation not permitted", "container": True}, "container's", "newer container engine"),
        ({"landlock_error": "Function not implemented"}, "this kernel has none", "Linux 5.13"),
    ],
)
def test_why_there_is_no_landlock(changes: dict[str, object], cause: str, remedy: str) -> None:
    """A kernel that has it switched off is not an old one."""
    found = finding(replace(ALL, landlock=0, **changes), "landlock")  # type: ignore[arg-type]
    assert (cause in found.cause, remedy in found.remedy) == (True, True), found


def test_another_architecture_has_no_filter() -> None:
    """It is told which."""
    found = finding(replace(ALL, architecture="aarch64", seccomp=False), "seccomp")
    assert found.cause == "the filter is written for x86_64, and this machine is aarch64"


def found(**facts: object) -> ProbeResult:
    """What a machine with these facts has."""
    offered = offer(Host("linux", "x86_64", **{"landlock": 7, "seccomp": True, **facts}))  # type: ignore[arg-type]
    means = offered.means if offered.means.level.reaches(Level.STANDARD) else PLAIN
    return ProbeResult("python", means, offered.findings)


STRICT = found()
STANDARD = found(namespaces="unshare: Operation not permitted")
REDUCED = found(namespaces="unshare: Operation not permitted", landlock=0, landlock_error="Function not implemented")


@pytest.mark.parametrize("least", [Level.REDUCED, Level.STANDARD, Level.STRICT])
def test_the_best_is_taken_whatever_is_wanted_at_least(least: Level) -> None:
    """Nobody gets less for asking for less."""
    assert choose_means(least, STRICT) == STRICT.means


def test_none_is_exactly_none() -> None:
    """However much there is."""
    assert choose_means(Level.NONE, STRICT) == NOTHING


@pytest.mark.parametrize(
    ("least", "machine"), [(Level.STRICT, STANDARD), (Level.STRICT, REDUCED), (Level.STANDARD, REDUCED)]
)
def test_less_than_is_wanted_is_an_error_with_cause_and_remedy(least: Level, machine: ProbeResult) -> None:
    """In one line, with both levels, every missing mean and the way to accept it."""
    with pytest.raises(SandboxError) as refused:
        choose_means(least, machine)
    text = str(refused.value)
    assert text.startswith(
        f"candidates are to be isolated at least at {str(least)!r}, and this machine reaches {str(machine.level)!r}: "
        "no namespaces (the kernel refuses them: unshare: Operation not permitted)"
    )
    for part in (" Try: run as root, or", f"--sandbox {machine.level}.", "`evolve sandbox probe`"):
        assert part in text
    assert ("could read the files and keys" in text) == (machine.level is Level.REDUCED)
    assert "\n" not in text


def test_the_line_of_strict_is_that_of_its_means() -> None:
    """There is nothing to remedy."""
    assert describe_means(STRICT, STRICT.means) == "strict: namespaces, landlock 7, seccomp, memory watched"


def test_the_line_of_a_weaker_level_says_what_is_missing_why_and_what_to_do() -> None:
    """In one line, too."""
    assert describe_means(STANDARD, STANDARD.means) == (
        "standard: landlock 7, seccomp, memory watched. No namespaces (the kernel refuses them: unshare: Operation not permitted). "
        "To get strict: run as root, or in a virtual machine; docs/sandbox.md has more ways"
    )


def test_landlock_is_not_blamed_where_strict_needs_none() -> None:
    """A machine with namespaces and without Landlock is strict."""
    machine = found(landlock=0, landlock_error="Function not implemented")
    assert (machine.level, machine.missing) == (Level.STRICT, ())
    assert describe_means(machine, machine.means) == Means(namespaces=True, seccomp=True).line
