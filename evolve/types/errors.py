"""Every error that a user can cause or meet. A message says what is wrong, what was got, and what to do.

    EvolveError
    ├── ConfigError     settings, command line, campaign files
    │   └── MissingPartError  what only a campaign has
    ├── TaskError       a task folder, its seed or its evaluator
    ├── PluginError     a plugin that does not load or breaks its contract
    ├── ModelError      a call of a model that failed; other calls may not
    │   ├── ModelDown       it cannot be reached now, and may be back
    │   ├── ModelGone       it will not answer any more in this run
    │   └── Unaffordable    the budget does not pay for one more call
    ├── EditError       a reply or an edit that cannot be applied
    ├── SandboxError    a process of a worker or a candidate that cannot be started
    └── StoreError      the log: locked, read-only, full, corrupt, newer

A failed *program* is not an error: it is an `Outcome`.
"""

import difflib
import re
from collections.abc import Iterable, Mapping

from evolve.types.prompt import Usage

__all__ = [
    "ConfigError",
    "MissingPartError",
    "EditError",
    "EvolveError",
    "ModelDown",
    "ModelError",
    "ModelGone",
    "PluginError",
    "SandboxError",
    "StoreError",
    "TaskError",
    "Unaffordable",
    "ask_for_near",
    "did_you_mean",
    "without_remedy",
]


class EvolveError(Exception):
    """The root of everything that is reported as one clear message, without a traceback."""


class ConfigError(EvolveError):
    """Settings that cannot be used."""


class MissingPartError(ConfigError):
    """Something is asked for that is there in a campaign, and not here: nothing is wrong with who asks."""


class TaskError(EvolveError):
    """A task that cannot be used."""


class PluginError(EvolveError):
    """A plugin that cannot be used."""


class ModelError(EvolveError):
    """A call that failed. `usage` is what it may have cost, `attempts` how often it was tried, and `seconds` how long it was worked on in
    tries that may have cost something. `retries` counts the requests that failed, by their causes."""

    def __init__(self, message: str, usage: Usage | None = None, attempts: int = 1, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.usage = Usage() if usage is None else usage
        self.attempts = attempts
        self.seconds = seconds
        self.retries: Mapping[str, int] = {}


class ModelDown(ModelError):
    """A model that cannot be reached, or is failing: the same call may succeed later. `retry_after`: seconds that it asked to be left alone, 0 where it did not say."""

    def __init__(
        self,
        message: str,
        usage: Usage | None = None,
        attempts: int = 1,
        seconds: float = 0.0,
        *,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(message, usage, attempts, seconds)
        self.retry_after = retry_after


class ModelGone(ModelError):
    """A model that will not answer any more in this run: its key was refused, its quota is used up, or it was down for too long."""


class Unaffordable(ModelError):
    """A budget that does not pay for one more call."""


class EditError(EvolveError):
    """An edit that cannot be applied to its program."""


class SandboxError(EvolveError):
    """A process of a worker or a candidate that cannot be started or kept."""


class StoreError(EvolveError):
    """A log that cannot be opened, read or written."""


def without_remedy(message: str) -> str:
    """Returns what a message says went wrong, without what to do about it and without a full stop."""
    # Logs of earlier versions say "Do:".
    return re.split(r" (?:Try|Do): ", message, maxsplit=1)[0].rstrip(".")


def ask_for_near(got: str, known: Iterable[str]) -> str:
    """Returns ` Did you mean 'x'?` for the nearest known name; empty when none is near."""
    # The nearest alone: a list of guesses hides the one that was meant.
    near = difflib.get_close_matches(got, sorted(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def did_you_mean(got: str, known: Iterable[str]) -> str:
    """Returns ` Did you mean 'x'?` for the nearest known name, else ` Known: a, b.`; empty when nothing is known."""
    names = sorted(known)
    return ask_for_near(got, names) or (f" Known: {', '.join(names)}." if names else "")
