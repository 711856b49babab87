"""The loop that runs a campaign."""

from evolve.engine.ending import Ending
from evolve.engine.loop import Watch, finish, run
from evolve.engine.settling import known_signatures
from evolve.engine.steering import Requests

__all__ = ["Ending", "Requests", "Watch", "finish", "known_signatures", "run"]
