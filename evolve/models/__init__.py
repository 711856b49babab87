"""The kinds of models that come with the engine, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else; keys are read when a model is made, and live in it alone."""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models import cassette
from evolve.models.cassette import CassetteSettings
from evolve.models.command import Command, CommandSettings
from evolve.models.mailbox import Mailbox, MailboxSettings
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


def _mailbox(settings: Settings) -> Model:
    return Mailbox(MailboxSettings(**settings).folder)


def _command(settings: Settings) -> Model:
    return Command(CommandSettings(**settings))


def _cassette(settings: Settings) -> Model:
    return cassette.opened(CassetteSettings(**settings), {entry.name: entry for entry in _RECORDED})


_RECORDED = (
    ModelEntry("openai", _openai, OpenAISettings, argument="model", priced=True, embeds=True),
    ModelEntry("mailbox", _mailbox, MailboxSettings, argument="folder", concurrency=8),
    ModelEntry("command", _command, CommandSettings, argument="argv", concurrency=4),
)
"""The kinds that a cassette may record itself."""


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """`openai`, for any server that speaks OpenAI's chat completions, and the kinds that need no server."""
    return (*_RECORDED, ModelEntry("cassette", _cassette, CassetteSettings, argument="path"))
