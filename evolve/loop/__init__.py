"""The loop that runs a campaign."""

from evolve.loop.ending import Ending
from evolve.loop.loop import Watch, finish, run
from evolve.loop.requests import Requests
from evolve.loop.settling import known_signatures

__all__ = ["Ending", "Requests", "Watch", "finish", "known_signatures", "run"]
