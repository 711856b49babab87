"""Stars, tags and comments: what a person leaves at a program, where the server was started to allow it.

Invariant: a change comes by POST alone, which the guard lets through with `--edit`; nothing is written to a log."""

import time
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evolve.store.comments import author
from evolve.types import ConfigError, RecordId
from evolve.web import addresses, marks
from evolve.web.forms import fields
from evolve.web.rendering import page
from evolve.web.shelf import Shelf


async def mark(request: Request) -> Response:
    """Sets or takes a star, a tag or a comment, and shows what there is then."""
    return await run_in_threadpool(_marked, request, await fields(request))


def _marked(request: Request, words: Mapping[str, str]) -> Response:
    name, number = request.path_params["name"], addresses.record_of(request)
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(name) as campaign:
        addresses.known(campaign, number)
        kept = marks.beside(campaign)
        _change(kept, number, words)
        if "hx-request" not in request.headers:
            return RedirectResponse(addresses.program(name, number), 303)
        return page(request, "marks.html", number=number, marks=kept.of(number))


def _change(kept: marks.Comments, number: RecordId, words: Mapping[str, str]) -> None:
    """What a form asks for; raises `ConfigError` for what is no mark."""
    on = words.get("on", "1") == "1"
    match words.get("what", ""):
        case "star":
            kept.star(number, on)
        case "tag":
            kept.tag(number, words.get("tag", ""), on)
        case "comment":
            kept.comment(number, words.get("text", ""), author(), time.time())
        case "remove":
            kept.remove(number, _time(words.get("at", "")))
        case other:
            raise ConfigError(
                f"a mark is a star, a tag or a comment, got {other[:40]!r}. Do: go back, and press a button"
            )


def _time(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(
            f"a comment is named by its time, got {text[:40]!r}. Do: go back, and press a button"
        ) from None


ROUTES = (Route("/c/{name}/programs/{record}/marks", mark, methods=["POST"]),)
