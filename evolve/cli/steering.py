"""`evolve campaign hint` and `stop`: what a person says to a campaign.

Invariant: both say whether it was taken; a campaign that does not run needs no stop."""

import click

from evolve.campaign import existing_path, workspace
from evolve.campaign.requests import Hint, Stop
from evolve.cli.asking import ask, steered
from evolve.cli.output import debug_option, emit, facts, json_option
from evolve.cli.say import say
from evolve.store import writer


@click.command("hint")
@click.argument("name")
@click.argument("text")
@json_option
@debug_option
def hint_campaign(name: str, text: str, as_json: bool) -> None:
    """Write a lesson for a campaign, which strategies and operators can read."""
    log = existing_path(workspace(), name)
    found = steered(log, ask(log, Hint(text)))
    if as_json:
        emit(found)
    else:
        say(facts([("campaign", found.campaign), ("hint", found.told)]))


@click.command("stop")
@click.argument("name", required=False)
@json_option
@debug_option
def stop_campaign(name: str | None, as_json: bool) -> None:
    """Stop a running campaign as Ctrl-C does: what is being judged is finished, and everything is kept."""
    log = existing_path(workspace(), name)
    process = writer(log)
    told = "it is not running" if process is None else ask(log, Stop(process)).told
    if as_json:
        emit({"campaign": log.stem, "told": told, "process": process})
    else:
        say(facts([("campaign", log.stem), ("stop", told)]))
