"""Lessons and hints: what was learnt, by whom, when; and, where that was allowed, a form for one more.

Invariant: a hint is a request in the campaign's inbox; whoever writes the log takes it, and this server never does."""

import secrets
import time
from collections import deque
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evolve.campaign import Campaign
from evolve.campaign.inbox import PERSON, Hint, Inbox
from evolve.campaign.inbox import Request as Asking
from evolve.types import ConfigError, Lesson, LessonWritten
from evolve.web.forms import fields
from evolve.web.rendering import page, root
from evolve.web.shelf import Shelf

SHOWN = 300
"""Lessons on the page, the newest."""
LONGEST = 4_000
"""Characters of a hint."""


@dataclass(frozen=True, slots=True)
class Line:
    """A lesson, and when it was written, in seconds since 1970."""

    lesson: Lesson
    at: float

    @property
    def by_person(self) -> bool:
        """It is a hint."""
        return self.lesson.by == PERSON


def lessons(request: Request) -> Response:
    """All that was learnt, the newest first."""
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(request.path_params["name"]) as campaign:
        return page(
            request,
            "lessons.html",
            lines=_lines(campaign),
            total=len(campaign.state.lessons),
            waiting=_waiting(campaign),
            longest=LONGEST,
        )


def _lines(campaign: Campaign) -> tuple[Line, ...]:
    found = campaign.log.events(only=LessonWritten)
    newest = deque((one for one in found if one.number <= campaign.events), maxlen=SHOWN)
    return tuple(Line(one.event.lesson, one.at) for one in reversed(newest) if isinstance(one.event, LessonWritten))


def _waiting(campaign: Campaign) -> tuple[str, ...]:
    """Hints that nobody has taken yet."""
    letters = Inbox(campaign.log.path).letters()
    return tuple(letter.request.wish.text for letter in letters if isinstance(letter.request.wish, Hint))


async def hint(request: Request) -> Response:
    """Puts a hint into the inbox; raises `ConfigError` where it says nothing."""
    shelf: Shelf = request.app.state.shelf
    name = request.path_params["name"]
    text = (await fields(request)).get("text", "").strip()
    if not text or len(text) > LONGEST:
        raise ConfigError(f"a hint has 1 to {LONGEST:,} characters, got {len(text):,}. Do: go back, and write another")
    asking = Asking(secrets.token_hex(16), Hint(text))
    await run_in_threadpool(Inbox(shelf.path(name)).put, asking, time.time())
    return RedirectResponse(f"{root(name)}/lessons", 303)


ROUTES = (
    Route("/c/{name}/lessons", lessons, methods=["GET"]),
    Route("/c/{name}/lessons", hint, methods=["POST"]),
)
