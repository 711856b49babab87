"""What this machine is said to reach by `EVOLVE_SANDBOX`, and what follows for a test that finds less.

Invariant: where `strict` is promised no test is skipped for want of a level, of a case, or of what it needs."""

import os
from collections.abc import Callable
from typing import NoReturn

import pytest

from evolve.engine.isolation import VARIABLE, wanted_level
from evolve.sandbox.machine.choice import unreached
from evolve.sandbox.machine.probe import Found
from evolve.types import ConfigError, Level


def not_here(why: str) -> NoReturn:
    """Skips the test, or fails it where the machine is said to be strict."""
    if os.environ.get("EVOLVE_SANDBOX") == Level.STRICT:
        pytest.fail(f"{why}, and EVOLVE_SANDBOX is strict")
    pytest.skip(why)


def broken_promise(probe: Callable[[], Found], variable: str) -> str:
    """Why what the probe finds is less than what the variable says, which may be empty; empty where it is not. What every machine reaches is not
    looked for."""
    try:
        wish = wanted_level(None, environment={VARIABLE: variable})
    except ConfigError as error:
        return str(error)
    if not wish.said or Level.REDUCED.reaches(wish.level):
        return ""
    found = probe()
    return "" if found.level.reaches(wish.level) else unreached(wish.level, found)
