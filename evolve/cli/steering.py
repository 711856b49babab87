"""Requests to a campaign: `evolve campaign hint`, `stop`, `pause` and `unpause`, and the function `ask` under them and others.

A request lies in the campaign's inbox before anybody acts on it, so that it is done once, whichever process ends in between: by
the engine that runs the campaign, or else here, by the same code."""

import os
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from evolve.campaign import Campaign, existing_path, workspace
from evolve.campaign.campaign import settings_of
from evolve.campaign.inbox import Answer, Hint, Inbox, Request, RunControl, Wish
from evolve.cli.output import emit, facts, json_option, say
from evolve.engine import Requests, read_signatures
from evolve.log import Locked, Log, writer
from evolve.plugins import load
from evolve.types import ConfigError, EvolveError, RecordId, StoreError

ANSWER_SECONDS = 15.0
"""Seconds that an engine has to answer; it looks into its inbox once a second, and a busy one may be late."""
_POLL_SECONDS = 0.05
_UNREAD = "the campaign has no model, so that no prompt will carry it: it stands in the log and in the report"


def ask(log: Path, wish: Wish) -> Answer:
    """Returns the answer to a request; raises `ConfigError` with the reason where it is refused, and `StoreError` where nobody answers
    in time, which keeps the request."""
    inbox, request = Inbox(log), Request(secrets.token_hex(16), wish)
    inbox.put(request, time.time())
    try:
        answer = _wait_for_answer(log, inbox, request)
    except EvolveError:
        inbox.withdraw(request.id)
        raise
    finally:
        inbox.tidy(time.time())
    if answer is None:
        raise StoreError(
            f"the engine of campaign {log.stem!r} (process {writer(log)}) has not answered in {ANSWER_SECONDS:.0f} s. The request is "
            "kept, and whoever writes the log next does it. Try: nothing; to ask again would be a second request"
        )
    if not answer.accepted:
        raise ConfigError(answer.told)
    return answer


def _wait_for_answer(log: Path, inbox: Inbox, request: Request) -> Answer | None:
    """Returns the engine's answer, or does the request here as soon as there is no engine; None after `ANSWER_SECONDS`."""
    deadline, needs_run = time.monotonic() + ANSWER_SECONDS, isinstance(request.wish, RunControl)
    # A setting or a ruling may be written here; a stop is for a run alone.
    free = writer(log) is None or not needs_run
    while True:
        if free and not needs_run:
            _do_requests(log)
        answer = inbox.take_answer(request.id)
        if answer is not None:
            return answer
        if free and needs_run:
            inbox.withdraw(request.id)
            return Answer(request.id, accepted=True, told="its run has ended")
        if time.monotonic() > deadline:
            return None
        time.sleep(_POLL_SECONDS)
        # The engine may have ended since, and would never answer.
        free = writer(log) is None


def _do_requests(log: Path) -> None:
    """Does everything in the inbox, unless another process has begun to write the log."""
    try:
        with Campaign.open(str(log), load(), log.parent, readonly=False) as campaign:
            requests = Requests(campaign, read_signatures(campaign), os.getpid())
            with campaign.log.transaction():
                requests.take(adding=True)
            requests.answer()
    except Locked:
        return


def print_answer(label: str, log: Path, answer: Answer, *, as_json: bool) -> None:
    """Prints an answer with names in place of numbers: the records of the request, and the best program before (`former`) and after it."""
    former, best = _name(log, answer.former), _name(log, answer.best)
    if as_json:
        records = [_name(log, record) for record in answer.records]
        emit({"campaign": log.stem, "told": answer.told, "records": records, "former": former, "best": best})
        return
    changed = [("best", f"{best or 'none'}  (before: {former or 'none'})")] if best != former else []
    say(facts([("campaign", log.stem), (label, answer.told), *changed]))


def _name(log: Path, record: RecordId) -> str:
    return f"{log.stem}/{record}" if record else ""


@click.command("hint")
@click.argument("name")
@click.argument("text")
@json_option
def hint_campaign(name: str, text: str, as_json: bool) -> None:
    """Write a lesson for a campaign: its prompts show it, if it has models."""
    log = existing_path(workspace(), name)
    answer = ask(log, Hint(text))
    with Log.open(log, readonly=True) as opened:
        if not settings_of(opened).models.members:
            answer = replace(answer, told=f"{answer.told}; {_UNREAD}")
    print_answer("hint", log, answer, as_json=as_json)


def _make_command(what: Literal["stop", "pause", "unpause"], about: str) -> click.Command:
    """Returns a command that asks the run of a campaign, if there is one."""

    @click.command(what, help=about)
    @click.argument("name", required=False)
    @json_option
    def command(name: str | None, as_json: bool) -> None:
        _ask_run(name, what, as_json=as_json)

    return command


RUN_COMMANDS = (
    _make_command(
        "stop",
        "Stop a running campaign as Ctrl-C does: what is being evaluated is finished, and everything is kept.",
    ),
    _make_command(
        "pause",
        "Pause a running campaign: nothing new is started, what is being evaluated settles, and its seconds do not count.",
    ),
    _make_command("unpause", "Let a paused campaign go on."),
)


def _ask_run(name: str | None, what: Literal["stop", "pause", "unpause"], *, as_json: bool) -> None:
    log = existing_path(workspace(), name)
    process = writer(log)
    if process is not None:
        told = ask(log, RunControl(what, process)).told
    else:
        go_on = f"; evolve run --continue {log.stem} goes on" if what == "unpause" else ""
        told = f"it is not running{go_on}"
    if as_json:
        emit({"campaign": log.stem, "told": told, "process": process})
    else:
        say(facts([("campaign", log.stem), (what, told)]))
