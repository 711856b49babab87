"""The kinds of models that come with the engine, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else; keys are read when a model is made, and live in it alone."""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models.settings import OpenAISettings
from evolve.protocols import Model

__all__ = ["OpenAISettings", "chat_model", "register_models"]


def chat_model(settings: Settings, environment: Mapping[str, str]) -> Model:
    """The client of a server that speaks OpenAI's chat completions, for plugins too; keys are looked up in `environment`. Raises
    `ConfigError`. Imported when it is made: the SDK takes half a second."""
    model: Model = import_module("evolve.models.chat").ChatModel(OpenAISettings(**settings), environment)
    return model


def _openai(settings: Settings) -> Model:
    return chat_model(settings, os.environ)


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """`openai`: any server that speaks OpenAI's chat completions."""
    return (ModelEntry("openai", _openai, OpenAISettings, argument="model", priced=True, embeds=True),)
