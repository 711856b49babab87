"""Line of a campaign in a list: read from its log without a replay."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from evolve.campaign.campaign import settings_of, task_of
from evolve.log import Log, writer
from evolve.types import EvolveError, Fitness, Paused

__all__ = ["CampaignLine", "read_campaign_line", "writer"]


@dataclass(frozen=True, slots=True)
class CampaignLine:
    """Line of a list of campaigns. `best` is the best fitness of one evaluation that holds or held a place, in the user's direction, and `written` the
    time of the last write; `problem` is why the log cannot be read, and `fitness` is None then."""

    name: str
    log: str
    megabytes: float
    written: str
    task: str = "-"
    strategy: str = "-"
    budget: tuple[str, ...] = ()
    events: int = 0
    state: Literal["running", "paused", ""] = ""
    programs: int = 0
    best: float | None = None
    fitness: Fitness | None = None
    problem: str = ""


def read_campaign_line(path: Path) -> CampaignLine:
    """Returns the line of the campaign whose log is at `path`."""
    status = path.stat()
    written = datetime.fromtimestamp(status.st_mtime).isoformat(" ", "minutes")
    line = CampaignLine(path.stem, str(path), status.st_size / 1e6, written)
    try:
        with Log.open(path, readonly=True) as log:
            task, settings, (programs, best) = task_of(log), settings_of(log), log.count_judged()
            return replace(
                line,
                task=task.name,
                strategy=settings.strategy.name,
                budget=tuple(settings.budget),
                events=log.count(),
                state=_read_state(log),
                programs=programs,
                best=None if best is None else task.fitness.shown(best),
                fitness=task.fitness,
            )
    except EvolveError as error:
        return replace(line, problem=str(error))


def _read_state(log: Log) -> Literal["running", "paused", ""]:
    if writer(log.path) is None:
        return ""
    last = [stamped.event for stamped in log.events(only=Paused)][-1:]
    return "paused" if any(isinstance(event, Paused) and event.paused for event in last) else "running"
