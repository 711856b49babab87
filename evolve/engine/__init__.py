"""The loop that runs a campaign, and the composition root that opens a run."""

from evolve.engine.ending import Ending
from evolve.engine.loop import Unwatched, Watch, finish, run
from evolve.engine.opening import OpenRun, RunRequest, open_executor, open_run
from evolve.engine.requests import Requests
from evolve.engine.settling import known_signatures

__all__ = [
    "Ending",
    "OpenRun",
    "Requests",
    "RunRequest",
    "Unwatched",
    "Watch",
    "finish",
    "known_signatures",
    "open_executor",
    "open_run",
    "run",
]
