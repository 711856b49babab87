"""`evolve campaign hint`, `stop`, `pause`, `unpause` and `config`: what a person says to a campaign.

Invariant: each says whether it was taken; a campaign that does not run needs no stop and no pause."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from evolve.campaign import existing_path, workspace
from evolve.campaign.campaign import settings_of
from evolve.campaign.inbox import Configure, Hint, Pause, Stop, Unpause
from evolve.campaign.retuning import Key, keys
from evolve.cli.asking import ask, steered
from evolve.cli.fitted import shortened, terminal
from evolve.cli.output import debug_option, emit, emit_all, facts, json_option, one_line
from evolve.cli.say import say
from evolve.log import Log, writer
from evolve.plugins import load

_UNREAD = "the campaign has no model, so that no prompt will carry it: it stands in the log and in the report"
_NARROWEST = 20
"""Characters of a value at least."""


@click.command("hint")
@click.argument("name")
@click.argument("text")
@json_option
@debug_option
def hint_campaign(name: str, text: str, as_json: bool) -> None:
    """Write a lesson for a campaign: its prompts show it, if it has models."""
    log = existing_path(workspace(), name)
    found = steered(log, ask(log, Hint(text)))
    with Log.open(log, readonly=True) as opened:
        if not settings_of(opened).models.members:
            found = replace(found, told=f"{found.told}; {_UNREAD}")
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
    _tell_run(existing_path(workspace(), name), "stop", Stop, as_json=as_json)


@click.command("pause")
@click.argument("name", required=False)
@json_option
@debug_option
def pause_campaign(name: str | None, as_json: bool) -> None:
    """Pause a running campaign: nothing new is started, what is being judged settles, and its seconds do not count."""
    _tell_run(existing_path(workspace(), name), "pause", Pause, as_json=as_json)


@click.command("unpause")
@click.argument("name", required=False)
@json_option
@debug_option
def unpause_campaign(name: str | None, as_json: bool) -> None:
    """Let a paused campaign go on."""
    _tell_run(existing_path(workspace(), name), "unpause", Unpause, as_json=as_json)


def _tell_run(log: Path, what: str, wish: Callable[[int], Stop | Pause | Unpause], *, as_json: bool) -> None:
    process = writer(log)
    told = _idle(log, what) if process is None else ask(log, wish(process)).told
    if as_json:
        emit({"campaign": log.stem, "told": told, "process": process})
    else:
        say(facts([("campaign", log.stem), (what, told)]))


def _idle(log: Path, what: str) -> str:
    """What there is to say where nothing runs."""
    return f"it is not running; evolve run --continue {log.stem} goes on" if what == "unpause" else "it is not running"


@click.command("config")
@click.argument("name", required=False)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Another value; may be repeated.")
@json_option
@debug_option
def configure_campaign(name: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Change settings of a campaign, also while it runs; without --set, show all of them and which may change."""
    log = existing_path(workspace(), name)
    if assignments:
        found = steered(log, ask(log, Configure(assignments)))
        if as_json:
            emit(found)
        else:
            say(facts([("campaign", found.campaign), ("settings", found.told)]))
        return
    with Log.open(log, readonly=True) as opened:
        lines = keys(settings_of(opened), load())
    if as_json:
        emit_all(lines)
    else:
        say(_settings(lines))


def _settings(lines: Sequence[Key]) -> str:
    """All settings below when they may change, or why they may not: a reason is said once."""
    when = {line.key: f"may change {line.when}" if line.when else f"fixed: {line.why}" for line in lines}
    width = max(map(len, when))
    parts = []
    for group in sorted(dict.fromkeys(when.values()), key=lambda words: words.startswith("fixed")):
        own = [_setting(line, width) for line in lines if when[line.key] == group]
        parts.append("\n".join([group, *own]))
    return "\n\n".join(parts)


def _setting(line: Key, width: int) -> str:
    value = one_line(json.dumps(line.value, ensure_ascii=False))
    return f"  {line.key.ljust(width)}  {shortened(value, max(_NARROWEST, terminal() - width - 4))}"
