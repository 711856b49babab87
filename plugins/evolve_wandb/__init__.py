"""The tracker `wandb`: a campaign as a run of Weights & Biases, offline unless a person says otherwise. See `docs/trackers.md`.

A plugin as a third party would write it. Invariant: importing it imports no wandb; nothing leaves this machine while the mode is `offline`."""

import importlib
import os
from collections.abc import Sequence

from evolve.hookspecs import Settings, TrackerEntry, hookimpl
from evolve.protocols import Tracker
from evolve.types import ConfigError
from evolve_wandb.tracker import Wandb, WandbSettings

KEY = "WANDB_API_KEY"


def _wandb(settings: Settings) -> Tracker:
    chosen = WandbSettings(**settings)
    if chosen.mode == "online" and not os.environ.get(KEY):
        raise ConfigError(
            f"the tracker 'wandb' has mode = 'online', and there is no key. Do: set the environment variable {KEY}, or leave the mode 'offline'"
        )
    # It would tell its makers of its own errors, whatever the mode.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    try:
        module = importlib.import_module("wandb")
    except ImportError as error:
        raise ConfigError(
            "the tracker 'wandb' needs the package wandb, which is not installed. "
            "Do: pip install 'evolve[wandb]', or leave --tracker wandb out"
        ) from error
    return Wandb(module.init, module.Settings, chosen)


@hookimpl
def register_trackers() -> Sequence[TrackerEntry]:
    """`wandb`."""
    return (TrackerEntry("wandb", _wandb, WandbSettings),)
