"""The loop that runs a campaign, and the composition root that opens a run."""

from evolve.engine.loop import Ending, run
from evolve.engine.opening import OpenRun, RunRequest, open_executor, open_run
from evolve.engine.recorder import read_signatures
from evolve.engine.steering import Requests
from evolve.engine.trackers import Unwatched, Watch

__all__ = [
    "Ending",
    "OpenRun",
    "Requests",
    "RunRequest",
    "Unwatched",
    "Watch",
    "read_signatures",
    "open_executor",
    "open_run",
    "run",
]
