"""Isolation levels of a campaign's runs.

A campaign's level never falls: each run must reach the level of those before. A fork begins anew."""

from evolve.types import Level, SandboxError


class Reached:
    """The levels of a campaign's runs; the first `inherited` machines are those of the campaign that it was forked from."""

    def __init__(self, inherited: int = 0) -> None:
        self.best: Level | None = None
        """The best one that any of its records may have; None before the first run, and where none is known."""
        self.least: Level | None = None
        """What its own runs have reached, and every further one must."""
        self._inherited = inherited

    def add(self, isolation: str) -> None:
        """A run began on a machine, with this line of means."""
        level = Level.of(isolation)
        own, self._inherited = self._inherited == 0, max(0, self._inherited - 1)
        if level is None:
            return
        self.best = _better(self.best, level)
        if own:
            self.least = _better(self.least, level)

    def weaker(self, isolation: str) -> bool:
        """Returns whether a record with this line was evaluated under a weaker level than the campaign's best."""
        level = Level.of(isolation)
        return level is not None and self.best is not None and not level.reaches(self.best)

    def check(self, name: str, now: Level, why: str = "") -> None:
        """Raises `SandboxError` where `now` is less than what campaign `name` was evaluated at; `why` says what keeps it there."""
        if self.least is None or now.reaches(self.least):
            return
        reason = f" ({why})" if why else ""
        raise SandboxError(
            f"campaign {name!r} was evaluated at the isolation level {str(self.least)!r}, and here it would go on at {str(now)!r}{reason}: its "
            f"scores would rest on less than they say. Try: go on where {str(self.least)!r} is reached (`evolve sandbox probe` tells what is "
            f"missing), or go on with a fork, whose weaker scores are marked: evolve campaign fork {name}"
        )


def _better(one: Level | None, other: Level) -> Level:
    return other if one is None or other.reaches(one) else one
