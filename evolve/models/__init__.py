"""The kinds of models that come with the engine, registered as a third party would register its own.

Invariant: the engine knows them by the names given here and by nothing else; keys are read when a model is made, and live in it alone."""

from collections.abc import Sequence

from evolve.hookspecs import ModelEntry, Settings, hookimpl
from evolve.models import cassette
from evolve.models.cassette import CassetteSettings
from evolve.models.command import Command, CommandSettings
from evolve.models.mailbox import Mailbox, MailboxSettings
from evolve.protocols import Model


def _mailbox(settings: Settings) -> Model:
    return Mailbox(MailboxSettings(**settings).folder)


def _command(settings: Settings) -> Model:
    return Command(CommandSettings(**settings))


def _cassette(settings: Settings) -> Model:
    return cassette.opened(CassetteSettings(**settings), {entry.name: entry for entry in _RECORDED})


_RECORDED = (
    ModelEntry("mailbox", _mailbox, MailboxSettings, argument="folder", concurrency=8),
    ModelEntry("command", _command, CommandSettings, argument="argv", concurrency=4),
)
"""The kinds that a cassette may record itself."""


@hookimpl
def register_models() -> Sequence[ModelEntry]:
    """The kinds that need no server, after those that do."""
    return (*_RECORDED, ModelEntry("cassette", _cassette, CassetteSettings, argument="path"))
