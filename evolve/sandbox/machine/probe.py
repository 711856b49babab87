"""The best means that this machine has, for candidates in one interpreter: what it seems to offer, tried by real candidates.

Invariant: what is found was held by candidates that tried to break it, on this boot and with these files; the level follows from the
means, and each that is missing has its cause and its remedy."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations

from evolve.sandbox.box import Box
from evolve.sandbox.machine import host, memo, tryout
from evolve.sandbox.machine.memo import Memo
from evolve.sandbox.machine.offer import PAGE, Finding, Offer, offer
from evolve.sandbox.machine.reach import closed_to_others, remedy
from evolve.sandbox.machine.visible import paths_of
from evolve.sandbox.means import PLAIN, Means
from evolve.types import Level, Limits, SandboxError


@dataclass(frozen=True, slots=True)
class Found:
    """`means` are the best that hold; `findings` say of each mean whether it is had. `python` is the interpreter that it is true for."""

    python: str
    means: Means
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """What the means come to."""
        return self.means.level

    @property
    def missing(self) -> tuple[Finding, ...]:
        """What keeps the level below `strict`, in the order in which it matters; nothing at `strict`."""
        if self.level is Level.STRICT:
            return ()
        lacking = [finding for finding in self.findings if not finding.had and finding.mean != "cgroup"]
        return tuple(lacking)


def probe(task_python: str = "", *, fresh: bool = False) -> Found:
    """What is found for the interpreter that a task names (empty: the engine's own). `fresh` believes nothing that was tried before. Call it
    before any thread is started. Raises `SandboxError` where not even a harmless candidate runs."""
    python = shutil.which(task_python) or task_python or sys.executable
    facts = host.read(python)
    offered, kept = offer(facts), Memo(memo.cache_folder(os.environ))
    key = memo.key(python, facts, offered.means)
    if not fresh and kept.has(key):
        return Found(python, offered.means, offered.findings)
    left = _usable(offered, python) if facts.chooses_user else offered
    found = tried(python, left, lambda means: tryout.failure(means, python))
    if found.means == offered.means:
        kept.keep(key)
    return found


def best_box(limits: Limits) -> Box:
    """A box as strong as this machine has it."""
    return Box(limits, means=probe().means)


def tried(python: str, offered: Offer, failure: Callable[[Means], str]) -> Found:
    """The best of what is offered that does not fail; what has to be left out for that is not had, for the reason that was found."""
    reasons: dict[Means, str] = {}
    for means in weaker_and_weaker(offered.means):
        reasons[means] = failure(means)
        if not reasons[means]:
            return Found(python, means, tuple(_after(finding, means, offered, reasons) for finding in offered.findings))
    raise SandboxError(
        f"no candidate runs in {python}, not even a harmless one: {reasons[PLAIN]}. Do: try that Python by hand"
    )


def _usable(offered: Offer, python: str) -> Offer:
    """What is offered to candidates who are another user: what makes them one is of no use where their interpreter is closed to others. Of
    editable packages the box will say it, which knows what of them is hidden."""
    try:
        closed = closed_to_others(paths_of(python), private=offered.means.namespaces, loose=False)
    except SandboxError:  # the trial says it
        return offered
    if not closed:
        return offered
    cause = f"users other than root may not read all of {closed[0]}, and candidates are another user"
    told = Finding("interpreter", False, cause=cause, remedy=remedy(closed))
    return Offer(PLAIN, tuple(told if one.mean == told.mean else one for one in offered.findings))


def weaker_and_weaker(best: Means) -> Iterator[Means]:
    """Every part of these means, the highest level first and the most means first within one. What comes to `reduced` is the plain one:
    that level promises no more."""
    had = {name: value for name, value in asdict(best).items() if value and name != "limits"}
    parts = [Means(**dict(chosen)) for count in range(len(had), 0, -1) for chosen in combinations(had.items(), count)]
    for level in (Level.STRICT, Level.STANDARD):
        yield from (means for means in parts if means.level is level)
    yield PLAIN


def _after(finding: Finding, means: Means, offered: Offer, reasons: Mapping[Means, str]) -> Finding:
    """What is to be said of a mean now that `means` hold: one that was offered and is left out has failed, or was not tried for want of
    another."""
    used, offers = asdict(means), asdict(offered.means)
    if not finding.had or finding.mean not in used or used[finding.mean]:
        return finding
    reason = reasons.get(Means(**{**used, finding.mean: offers[finding.mean]})) or reasons.get(offered.means)
    if not reason:
        return finding
    return Finding(finding.mean, False, cause=f"with it, {reason}", remedy=f"see {PAGE} for what it needs")
