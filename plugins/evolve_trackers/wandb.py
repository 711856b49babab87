"""Tracker `wandb`: records as steps of one run of Weights & Biases, which a campaign that goes on takes up again.

In the mode `offline` wandb writes files alone; neither code nor the machine's measurements nor output are ever recorded."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from evolve.types import TrackedEnd, TrackedRecord, TrackedRun


class WandbSettings(BaseModel):
    """Settings of `wandb`."""

    model_config = ConfigDict(extra="forbid")

    mode: Literal["offline", "online"] = "offline"
    project: str = "evolve"
    entity: str = ""
    folder: str = ""


class Wandb:
    """`init` and `make_settings` are wandb's `init` and `Settings`. Its files lie in `folder`, or where that is empty in `NAME.wandb/` beside the log."""

    def __init__(self, init: Callable[..., Any], make_settings: Callable[..., Any], settings: WandbSettings) -> None:
        self._init = init
        self._make_settings = make_settings
        self._settings = settings
        self._run: Any = None

    def campaign_begun(self, run: TrackedRun) -> None:
        """Begins the campaign's run, or goes on with it."""
        own = self._settings.folder
        folder = Path(own).expanduser() if own else Path(run.log).with_suffix(".wandb")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._run = self._init(
            mode=self._settings.mode,
            project=self._settings.project,
            entity=self._settings.entity or None,
            name=run.campaign,
            id=make_run_id(run),
            resume="allow",
            dir=str(folder),
            config={"task": run.task, "task_version": run.task_version, "evolve": dict(run.settings)},
            save_code=False,
            settings=self._make_settings(
                console="off",
                disable_git=True,
                x_disable_stats=True,
                x_disable_meta=True,
                x_save_requirements=False,
                silent=True,
            ),
        )

    def record_settled(self, record: TrackedRecord) -> None:
        """Logs one step."""
        self._run.log(list_values(record), step=record.record)

    def campaign_ended(self, end: TrackedEnd) -> None:
        """Writes the run, with the campaign's summary."""
        self._run.summary.update({"reason": end.reason, "records": end.records, "programs": end.programs})
        self._run.finish()


def make_run_id(run: TrackedRun) -> str:
    """Returns an identifier that is the same for every run of one campaign."""
    return hashlib.sha256(f"{run.log}\n{run.campaign}".encode()).hexdigest()[:16]


def list_values(record: TrackedRecord) -> dict[str, Any]:
    """Returns the values of a record, by name."""
    found: dict[str, Any] = {
        "outcome": record.outcome,
        "operator": record.operator or record.kind,
        "seconds": record.seconds,
        "spent/programs": record.programs,
        "spent/seconds": record.active_seconds,
    }
    if record.fitness is not None:
        found["fitness"] = record.fitness
    if record.best is not None:
        found |= {"best/fitness": record.best.fitness, "best/standard_error": record.best.standard_error}
        found |= {"best/certified": record.best.certified, "best/confirmed": record.best.confirmed}
    if record.model:
        found["model"] = record.model
    if record.calls:
        found |= {"spent/calls": record.calls, "spent/tokens": record.tokens, "spent/money": record.money}
    return found
