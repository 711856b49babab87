"""The kind of model `vllm`: `vllm serve` is started with a campaign and ends with it. See `docs/models.md`.

A plugin as a third party would write it: importing it starts nothing, and imports neither vllm nor torch."""

import os
from collections.abc import Sequence

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models import chat_model
from evolve.protocols import Model
from evolve_vllm.model import ServedModel
from evolve_vllm.settings import VllmSettings

CALLS = 32
"""Calls in flight where nobody says otherwise: a server that batches is hardly busy with fewer."""
_KEY = "EVOLVE_VLLM_KEY"
"""Name under which the client finds the key of this start; it is in no real environment."""


def _model(settings: Settings) -> Model:
    chosen = VllmSettings(**settings)

    def connect(url: str, key: str) -> Model:
        return chat_model({"model": chosen.model, **chosen.openai, "base_url": url, "key_env": _KEY}, {_KEY: key})

    return ServedModel(chosen, dict(os.environ), connect)


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """Registers `vllm`."""
    return (ModelEntry("vllm", _model, VllmSettings, argument="model", concurrency=CALLS),)
