"""Asks something of a campaign: of the engine that runs it, or, where none does, it is done here by the same code.

Invariant: a request lies in the campaign's inbox before anybody acts on it, so that it is done once, whoever ends in between."""

import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from evolve import wording
from evolve.campaign import Campaign
from evolve.campaign.campaign import task_of
from evolve.campaign.inbox import Answer, Inbox, Pause, Request, Stop, Unpause, Wish
from evolve.engine import Requests, read_signatures
from evolve.log import Locked, Log, writer
from evolve.plugins import load
from evolve.types import ConfigError, EvolveError, Fitness, StoreError

PATIENCE = 15.0
"""Seconds that an engine has to answer; it looks into its inbox once a second, and one that judges in a hurry may be late."""
_PAUSE = 0.05


def ask(log: Path, wish: Wish) -> Answer:
    """The answer to a wish; raises `ConfigError` with the reason where it is refused, and `StoreError` where nobody answers in time,
    which takes nothing back."""
    inbox, request = Inbox(log), Request(secrets.token_hex(16), wish)
    inbox.put(request, time.time())
    try:
        answer = _answered(log, inbox, request)
    except EvolveError:
        inbox.withdraw(request.id)
        raise
    finally:
        inbox.tidy(time.time())
    if answer is None:
        raise StoreError(
            f"the engine of campaign {log.stem!r} (process {writer(log)}) has not answered in {PATIENCE:.0f} s. The request is kept, and "
            "whoever writes the log next does it. Do: nothing; to ask again would be a second request"
        )
    if not answer.accepted:
        raise ConfigError(answer.told)
    return answer


def _answered(log: Path, inbox: Inbox, request: Request) -> Answer | None:
    """What an engine answers, or what is done here as soon as there is none; None where it has not answered in time."""
    deadline, aimed = time.monotonic() + PATIENCE, isinstance(request.wish, Stop | Pause | Unpause)
    free = writer(log) is None or not aimed
    while True:
        if free and not aimed:
            _do(log)
        answer = inbox.answered(request.id)
        if answer is not None:
            return answer
        if free and aimed:
            inbox.withdraw(request.id)
            return Answer(request.id, accepted=True, told="its run has ended")
        if time.monotonic() > deadline:
            return None
        time.sleep(_PAUSE)
        free = writer(log) is None


def _do(log: Path) -> None:
    """Does all that lies in the inbox, unless somebody else has begun to write the log."""
    try:
        with Campaign.open(str(log), load(), log.parent, readonly=False) as campaign:
            requests = Requests(campaign, read_signatures(campaign), os.getpid())
            with campaign.log.transaction():
                requests.take(adding=True)
            requests.answer()
    except Locked:
        return


@dataclass(frozen=True, slots=True)
class Steered:
    """What came of a request. `records` are those that it was about; `former` was the campaign's best program before it, and `best` is it
    now, with its fitness."""

    campaign: str
    told: str
    records: tuple[str, ...]
    former: str
    best: str
    fitness: float | None


def steered(log: Path, answer: Answer) -> Steered:
    """The answer with names in place of numbers."""
    names = tuple(f"{log.stem}/{record}" for record in answer.records)
    former, best = (f"{log.stem}/{record}" if record else "" for record in (answer.former, answer.best))
    return Steered(log.stem, answer.told, names, former, best, answer.fitness)


def best_line(log: Path, found: Steered) -> str:
    """Who is the best now, and who was it before where that has changed."""
    with Log.open(log, readonly=True) as opened:
        fitness: Fitness = task_of(opened).fitness
    now = f"{found.best}  {fitness.name} {wording.number(found.fitness, fitness)}" if found.best else "none"
    return now if found.best == found.former else f"{now}  (before: {found.former or 'none'})"
