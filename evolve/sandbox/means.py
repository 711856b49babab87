"""The means by which candidates are confined on this machine, and the level that they come to.

Standard library only, for a task's own Python needs this too. The level follows from the means alone, by the rule in `level`."""

from dataclasses import dataclass

from evolve.types.evaluation import Level


@dataclass(frozen=True, slots=True)
class Means:
    """Means by which candidates are confined. `landlock` is the version of its interface, 0 for none; `cgroup` is "v1", "v2" or empty, where memory is watched
    instead. `limits`: rlimits and the bound on total memory; only level `none` goes without."""

    namespaces: bool = False
    landlock: int = 0
    seccomp: bool = False
    cgroup: str = ""
    limits: bool = True

    @property
    def level(self) -> Level:
        """Level that these means promise."""
        if not self.limits:
            return Level.NONE
        # Landlock closes files, and namespaces cover them: with these, a filter makes the box complete without it.
        if self.seccomp and self.namespaces:
            return Level.STRICT
        if self.seccomp and self.landlock:
            return Level.STANDARD
        return Level.REDUCED

    @property
    def line(self) -> str:
        """The level and what it is made of, as it is recorded with every score: `strict: namespaces, landlock 7, seccomp, cgroup v1`."""
        if self.level is Level.NONE:
            return "none: separate process and time limits alone"
        if self.level is Level.REDUCED:
            return "reduced: separate process, rlimits, time limits; no file or network isolation"
        parts = [
            "namespaces" if self.namespaces else "",
            f"landlock {self.landlock}" if self.landlock else "",
            "seccomp" if self.seccomp else "",
            f"cgroup {self.cgroup}" if self.cgroup else "memory watched",
        ]
        return f"{self.level}: {', '.join(filter(None, parts))}"


PLAIN = Means()
"""Rlimits, time limits and a process group: all that every system has."""
NOTHING = Means(limits=False)
"""What `--sandbox none` asks for."""
