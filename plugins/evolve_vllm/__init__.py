"""The kind of model `vllm`: `vllm serve` is started with a campaign and ends with it, or one that runs already is used. See `docs/models.md`.

A plugin as a third party would write it. Invariant: importing it starts nothing, and imports neither vllm nor torch."""

import os
from collections.abc import Sequence

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models import chat_model
from evolve.protocols import Model
from evolve_vllm.model import AdoptedModel, ServedModel
from evolve_vllm.settings import VllmSettings
from evolve_vllm.watch import Watch

CALLS = 32
"""In flight at once where nobody says so: a server that batches is hardly busy with fewer."""
_KEY = "EVOLVE_VLLM_KEY"
"""The name under which the client finds the key of this start; it is in no real environment."""


def _model(settings: Settings) -> Model:
    chosen = VllmSettings(**settings)
    calls = {"model": chosen.model, **chosen.openai}
    if chosen.url:
        return AdoptedModel(chosen, chat_model({**calls, "base_url": chosen.url}, os.environ))

    def connect(url: str, key: str) -> Model:
        return chat_model({**calls, "base_url": url, "key_env": _KEY}, {_KEY: key})

    return ServedModel(Watch(chosen, dict(os.environ)), connect)


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """`vllm`."""
    return (ModelEntry("vllm", _model, VllmSettings, argument="model", concurrency=CALLS),)
