"""What `evolve run` says before the first record: what begins, who proposes, how well it is isolated, and where it is kept.

Invariant: a folder that somebody is to answer in is named."""

from pathlib import Path

from evolve import wording
from evolve.campaign import Campaign
from evolve.cli.output import one_line
from evolve.config import ModelSection

MAILBOX = "mailbox"
"""The kind of model whose answers somebody writes into a folder."""


def beginning(campaign: Campaign, isolation: str) -> str:
    """What is said before the first record; `isolation` is one line with what is missing for a better level."""
    settings, again = campaign.settings, campaign.state.progress.records
    was_paused = "; it was paused, and is not any more" if campaign.state.paused else ""
    verb = f"goes on after {wording.counted(again, 'record')}" if again else "begins"
    judges = f"{settings.judges} judge slot{'s' if settings.judges > 1 else ''}"
    limit = f"budget {campaign.budget}" if settings.budget else "no budget: Ctrl-C ends it"
    return (
        f"campaign {campaign.name} {verb}: {settings.strategy.name}, {judges}, seed {settings.seed}, {limit}{was_paused}\n"
        f"{_models(campaign)}\nisolation {isolation}\nlog {campaign.log.path}"
    )


def _models(campaign: Campaign) -> str:
    members = campaign.settings.models.members
    if members:
        return f"models {', '.join(map(_member, members))}"
    names = campaign.usable_operators
    return (
        f"no model: {', '.join(names)} propose{'s' if len(names) == 1 else ''} without one "
        "(--model NAME lets a language model propose, too)"
    )


def _member(member: ModelSection) -> str:
    """`mail (mailbox, 8 at once, answers awaited in mail/)`."""
    folder = folder_of(member)
    awaited = f", answers awaited in {folder}" if folder else ""
    return f"{member.name} ({member.kind}, {member.concurrency} at once{awaited})"


def folder_of(member: ModelSection) -> str:
    """Where the answers of a mailbox are written, from the current folder; empty for another kind."""
    if member.kind != MAILBOX:
        return ""
    folder = Path(str(member.settings["folder"]))
    shown = folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder
    return f"{one_line(str(shown))}/"
