"""Trackers `jsonl`, `tensorboard` and `wandb`: a campaign's records as lines of JSON, for TensorBoard, and for Weights & Biases. See `docs/plugins.md`.

Importing this package imports neither tensorboardX nor wandb; nothing leaves the machine unless a person says so."""

import importlib
import os
from collections.abc import Sequence
from typing import Any

from evolve.hookspecs import Settings, TrackerEntry, hookimpl
from evolve.types import ConfigError
from evolve_trackers.jsonl import Jsonl, JsonlSettings
from evolve_trackers.tensorboard import TensorBoard, TensorBoardSettings
from evolve_trackers.wandb import Wandb, WandbSettings

KEY = "WANDB_API_KEY"


def _make_jsonl(settings: Settings) -> Jsonl:
    return Jsonl(JsonlSettings(**settings))


def _make_tensorboard(settings: Settings) -> TensorBoard:
    return TensorBoard(_import("tensorboardX", "tensorboard").SummaryWriter, TensorBoardSettings(**settings))


def _make_wandb(settings: Settings) -> Wandb:
    chosen = WandbSettings(**settings)
    if chosen.mode == "online" and not os.environ.get(KEY):
        raise ConfigError(
            f"the tracker 'wandb' has mode = 'online', and there is no key. Try: set the environment variable {KEY}, or leave the mode 'offline'"
        )
    # wandb would tell its makers of its own errors, whatever the mode.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    module = _import("wandb", "wandb")
    return Wandb(module.init, module.Settings, chosen)


def _import(module: str, name: str) -> Any:
    """Imports a tracker's package; raises `ConfigError` where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"the tracker {name!r} needs the package {module}, which is not installed. "
            f"Try: pip install 'evolve[{name}]', or leave --tracker {name} out"
        ) from error


@hookimpl
def register_trackers() -> Sequence[TrackerEntry]:
    """Returns `jsonl`, `tensorboard` and `wandb`."""
    return (
        TrackerEntry("jsonl", _make_jsonl, JsonlSettings),
        TrackerEntry("tensorboard", _make_tensorboard, TensorBoardSettings),
        TrackerEntry("wandb", _make_wandb, WandbSettings),
    )
