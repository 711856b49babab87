"""Facts that a log tells without a replay."""

from dataclasses import dataclass
from pathlib import Path

from evolve.campaign.campaign import settings_of, task_of
from evolve.log import Log, writer
from evolve.types import Fitness, StoreError

__all__ = ["LogHeader", "read_header", "writer"]


@dataclass(frozen=True, slots=True)
class LogHeader:
    """Facts that a log tells without a replay. `problem` says why it cannot be read; `fitness` is None then."""

    task: str = "-"
    fitness: Fitness | None = None
    strategy: str = "-"
    budget: tuple[str, ...] = ()
    records: int = 0
    events: int = 0
    problem: str = ""


def read_header(path: Path) -> LogHeader:
    """Reads what the first events of a log say, and counts the others."""
    try:
        with Log.open(path, readonly=True) as log:
            task, settings = task_of(log), settings_of(log)
            budget = tuple(settings.budget)
            return LogHeader(task.name, task.fitness, settings.strategy.name, budget, log.records(), log.count())
    except StoreError as error:
        return LogHeader(problem=str(error))
