"""Which means a command uses."""

import pytest

from evolve.sandbox.machine.host import Host
from evolve.sandbox.machine.offer import ProbeResult, choose_means, describe_means, offer
from evolve.sandbox.means import NOTHING, PLAIN, Means
from evolve.types import Level, SandboxError


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
    for part in (" Do: run as root, or", f"--sandbox {machine.level}.", "`evolve sandbox probe`"):
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
