"""The loop that runs a campaign."""

from evolve.loop.loop import Watch, run
from evolve.loop.workshop import Ending

__all__ = ["Ending", "Watch", "run"]
