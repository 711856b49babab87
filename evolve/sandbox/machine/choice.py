"""Which means a command uses: at least the level that is wanted, and the best that the machine has.

Pure. Invariant: nothing weaker than what is wanted is ever chosen; what cannot be had is one line with its cause and its remedy."""

from evolve.sandbox.machine.offer import PAGE, Finding
from evolve.sandbox.machine.probe import Found
from evolve.sandbox.means import NOTHING, Means
from evolve.types import Level, SandboxError

_DANGER = "At 'reduced' a candidate could read the files and keys of this user, and use the network"

NOT_MORE = "The task ships with evolve and no model writes its programs, so it runs all the same"
"""Why a machine's `reduced` is enough where nobody asked for more."""


def chosen(least: Level, found: Found) -> Means:
    """`none` is exactly that; any other level is "at least". Raises `SandboxError` where the machine does not reach it."""
    if least is Level.NONE:
        return NOTHING
    if found.level.reaches(least):
        return found.means
    raise SandboxError(unreached(least, found))


def unreached(least: Level, found: Found) -> str:
    """Why a level is not reached, and what to do."""
    danger = f" {_DANGER}." if found.level is Level.REDUCED else ""
    accept = f"or accept it on a machine that holds nothing of value: --sandbox {found.level}"
    return (
        f"candidates are to be isolated at least at {str(least)!r}, and this machine reaches {str(found.level)!r}: {causes(found)}."
        f"{danger} Do: {remedies(found)}; {accept}. {PAGE} has the ways, `evolve sandbox probe` the details"
    )


def line(found: Found, means: Means) -> str:
    """What is said at the beginning of a run: the level and its means; below `strict` also what is missing, why, and what to do. `means` are
    those that were chosen of `found`."""
    if means.level is Level.STRICT:
        return means.line
    return f"{means.line}. {_capital(causes(found))}. To get strict: {remedies(found)}"


def causes(found: Found) -> str:
    """`no namespaces (the kernel refuses them)`, for each cause once."""
    means: dict[str, list[str]] = {}
    for finding in _worth_telling(found):
        means.setdefault(finding.cause, []).append(finding.mean)
    return ", ".join(f"no {' and '.join(names)} ({cause})" for cause, names in means.items())


def remedies(found: Found) -> str:
    """What to do about each of them, once; without Landlock a machine can be strict."""
    wanted = [finding.remedy for finding in found.missing if finding.mean != "landlock"]
    return ", and ".join(dict.fromkeys(wanted))


def _worth_telling(found: Found) -> list[Finding]:
    """What is missing for `strict`: Landlock only where `standard` is not reached either, for strict does without it."""
    if found.level is Level.STANDARD:
        return [finding for finding in found.missing if finding.mean != "landlock"]
    return list(found.missing)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
