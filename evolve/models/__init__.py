"""Kinds of models that come with the engine, registered as a third party registers its own. Keys are read when a model is made."""

import os
from collections.abc import Mapping, Sequence
from importlib import import_module

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models.cassette import Cassette, CassetteSettings
from evolve.models.command import CommandModel, CommandModelSettings
from evolve.models.endpoint import OpenAISettings
from evolve.models.mailbox import Mailbox, MailboxSettings
from evolve.models.process_reaper import ProcessReaper, kill_group
from evolve.protocols import Model

__all__ = ["OpenAISettings", "ProcessReaper", "chat_model", "kill_group", "register_models"]


def chat_model(settings: Settings, environment: Mapping[str, str]) -> Model:
    """Returns the client of a server that speaks OpenAI's chat completions, for plugins too; keys are looked up in `environment`. Raises
    `ConfigError`."""
    # Imported where it is needed: the HTTP client takes a tenth of a second, for which every command would wait.
    model: Model = import_module("evolve.models.openai").OpenAIModel(OpenAISettings(**settings), environment)
    return model


def _openai(settings: Settings) -> Model:
    return chat_model(settings, os.environ)


def _mailbox(settings: Settings) -> Model:
    return Mailbox(MailboxSettings(**settings).folder)


def _command(settings: Settings) -> Model:
    return CommandModel(CommandModelSettings(**settings))


def _cassette(settings: Settings) -> Model:
    return Cassette(CassetteSettings(**settings).path)


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """Registers `openai`, for any server that speaks OpenAI's chat completions, and the kinds that need no server."""
    return (
        ModelEntry("openai", _openai, OpenAISettings, argument="model", priced=True, embeds=True),
        ModelEntry("mailbox", _mailbox, MailboxSettings, argument="folder", concurrency=8),
        ModelEntry("command", _command, CommandModelSettings, argument="argv", concurrency=4),
        ModelEntry("cassette", _cassette, CassetteSettings, argument="path"),
    )
