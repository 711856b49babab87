"""Requests to a campaign: `evolve campaign hint`, `stop`, `pause`, `unpause` and `config`, and the function `ask` under all of them.

A request lies in the campaign's inbox before anybody acts on it, so that it is done once, whichever process ends in between: by
the engine that runs the campaign, or else here, by the same code."""

import json
import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from evolve import wording
from evolve.campaign import Campaign, existing_path, workspace
from evolve.campaign.campaign import settings_of, task_of
from evolve.campaign.inbox import Answer, Configure, Hint, Inbox, Pause, Request, Stop, Unpause, Wish
from evolve.campaign.retuning import Key, keys
from evolve.cli.output import debug_option, emit, emit_all, facts, json_option, one_line, say
from evolve.engine import Requests, read_signatures
from evolve.log import Locked, Log, writer
from evolve.plugins import load
from evolve.types import ConfigError, EvolveError, Fitness, StoreError

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
            "kept, and whoever writes the log next does it. Do: nothing; to ask again would be a second request"
        )
    if not answer.accepted:
        raise ConfigError(answer.told)
    return answer


def _wait_for_answer(log: Path, inbox: Inbox, request: Request) -> Answer | None:
    """Returns the engine's answer, or does the request here as soon as there is no engine; None after `ANSWER_SECONDS`."""
    deadline, needs_run = time.monotonic() + ANSWER_SECONDS, isinstance(request.wish, Stop | Pause | Unpause)
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


@dataclass(frozen=True, slots=True)
class NamedAnswer:
    """An answer with names in place of numbers: the records of the request, and the best program before (`former`) and after it."""

    campaign: str
    told: str
    records: tuple[str, ...]
    former: str
    best: str
    fitness: float | None


def name_records(log: Path, answer: Answer) -> NamedAnswer:
    """Returns an answer with the names of its records."""
    names = tuple(f"{log.stem}/{record}" for record in answer.records)
    former, best = (f"{log.stem}/{record}" if record else "" for record in (answer.former, answer.best))
    return NamedAnswer(log.stem, answer.told, names, former, best, answer.fitness)


def format_best(log: Path, answer: NamedAnswer) -> str:
    """Returns the best program now, and the one before where that is another."""
    with Log.open(log, readonly=True) as opened:
        fitness: Fitness = task_of(opened).fitness
    now = f"{answer.best}  {fitness.name} {wording.number(answer.fitness, fitness)}" if answer.best else "none"
    return now if answer.best == answer.former else f"{now}  (before: {answer.former or 'none'})"


def _print_answer(label: str, answer: NamedAnswer, *, as_json: bool) -> None:
    if as_json:
        emit(answer)
    else:
        say(facts([("campaign", answer.campaign), (label, answer.told)]))


@click.command("hint")
@click.argument("name")
@click.argument("text")
@json_option
@debug_option
def hint_campaign(name: str, text: str, as_json: bool) -> None:
    """Write a lesson for a campaign: its prompts show it, if it has models."""
    log = existing_path(workspace(), name)
    answer = name_records(log, ask(log, Hint(text)))
    with Log.open(log, readonly=True) as opened:
        if not settings_of(opened).models.members:
            answer = replace(answer, told=f"{answer.told}; {_UNREAD}")
    _print_answer("hint", answer, as_json=as_json)


@click.command("stop")
@click.argument("name", required=False)
@json_option
@debug_option
def stop_campaign(name: str | None, as_json: bool) -> None:
    """Stop a running campaign as Ctrl-C does: what is being judged is finished, and everything is kept."""
    _ask_run(name, "stop", Stop, as_json=as_json)


@click.command("pause")
@click.argument("name", required=False)
@json_option
@debug_option
def pause_campaign(name: str | None, as_json: bool) -> None:
    """Pause a running campaign: nothing new is started, what is being judged settles, and its seconds do not count."""
    _ask_run(name, "pause", Pause, as_json=as_json)


@click.command("unpause")
@click.argument("name", required=False)
@json_option
@debug_option
def unpause_campaign(name: str | None, as_json: bool) -> None:
    """Let a paused campaign go on."""
    _ask_run(name, "unpause", Unpause, as_json=as_json)


def _ask_run(name: str | None, label: str, wish: Callable[[int], Stop | Pause | Unpause], *, as_json: bool) -> None:
    log = existing_path(workspace(), name)
    process = writer(log)
    if process is not None:
        told = ask(log, wish(process)).told
    else:
        go_on = f"; evolve run --continue {log.stem} goes on" if label == "unpause" else ""
        told = f"it is not running{go_on}"
    if as_json:
        emit({"campaign": log.stem, "told": told, "process": process})
    else:
        say(facts([("campaign", log.stem), (label, told)]))


@click.command("config")
@click.argument("name", required=False)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Another value; may be repeated.")
@json_option
@debug_option
def configure_campaign(name: str | None, assignments: tuple[str, ...], as_json: bool) -> None:
    """Change settings of a campaign, also while it runs; without --set, show all of them and which may change."""
    log = existing_path(workspace(), name)
    if assignments:
        _print_answer("settings", name_records(log, ask(log, Configure(assignments))), as_json=as_json)
        return
    with Log.open(log, readonly=True) as opened:
        settings = keys(settings_of(opened))
    if as_json:
        emit_all(settings)
    else:
        say(_format_settings(settings))


def _format_settings(settings: Sequence[Key]) -> str:
    """Returns the settings below the time when they may change."""
    headings = {
        "any time": "may change any time",
        "between runs": "may change between runs",
        "": "fixed but for a fork",
    }
    parts = []
    for when, heading in headings.items():
        rows = [
            (f"  {each.key}", one_line(json.dumps(each.value, ensure_ascii=False)))
            for each in settings
            if each.when == when
        ]
        parts.append(f"{heading}\n{facts(rows)}")
    return "\n\n".join(parts)
