"""The loop that runs a campaign."""

from evolve.engine.ending import Ending
from evolve.engine.loop import Watch, finish, run
from evolve.engine.requests import Requests
from evolve.engine.settling import known_signatures

__all__ = ["Ending", "Requests", "Watch", "finish", "known_signatures", "run"]
