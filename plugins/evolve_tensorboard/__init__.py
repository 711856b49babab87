"""The tracker `tensorboard`: the curves of a campaign as TensorBoard reads them. See `docs/trackers.md`.

A plugin as a third party would write it. Invariant: importing it imports no tensorboardX; nothing is sent anywhere."""

import importlib
from collections.abc import Sequence

from evolve.hookspecs import Settings, TrackerEntry, hookimpl
from evolve.protocols import Tracker
from evolve.types import ConfigError
from evolve_tensorboard.tracker import TensorBoard, TensorBoardSettings


def _tensorboard(settings: Settings) -> Tracker:
    try:
        module = importlib.import_module("tensorboardX")
    except ImportError as error:
        raise ConfigError(
            "the tracker 'tensorboard' writes with the package tensorboardX, which is not installed. "
            "Do: pip install 'evolve[tensorboard]', or leave --tracker tensorboard out"
        ) from error
    return TensorBoard(module.SummaryWriter, TensorBoardSettings(**settings))


@hookimpl
def register_trackers() -> Sequence[TrackerEntry]:
    """`tensorboard`."""
    return (TrackerEntry("tensorboard", _tensorboard, TensorBoardSettings),)
