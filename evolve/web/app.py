"""The server's application: pages, static files, and what is said when something is wrong.

Invariant: an error of a user is a page with one sentence; our own bug is status 500 and a traceback in the server's log, never in a page.
Whatever is answered has passed the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from evolve.types import ConfigError, EvolveError
from evolve.web.gallery import Gallery
from evolve.web.glances import Glances
from evolve.web.guard import Access, Guard
from evolve.web.pages import (
    archive,
    campaigns,
    failures,
    lessons,
    lineage,
    operators,
    overview,
    picture,
    program,
    programs,
    settings,
    texts,
)
from evolve.web.rendering import FOLDER, page
from evolve.web.shelf import Shelf, StillOpening

GROUPS = (
    campaigns,
    overview,
    archive,
    operators,
    lessons,
    settings,
    programs,
    program,
    texts,
    picture,
    lineage,
    failures,
)
"""Every module with pages."""
_BESIDE = {"hx-retarget": "#told", "hx-reswap": "innerHTML", "hx-reselect": "#wrong"}
"""What is wrong with a part of a page is said at its top, and the part stays as it was."""
_TITLES = {404: "There is no such page", 405: "This page is only for reading", 500: "That is our mistake"}


def application(shelf: Shelf, access: Access) -> Guard:
    """The application for `uvicorn`; it closes the shelf when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        shelf.close()

    routes: list[BaseRoute] = [route for group in GROUPS for route in group.ROUTES]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=FOLDER / "static"))],
        exception_handlers={
            EvolveError: _told,
            StillOpening: _opening,
            HTTPException: _refused,
            Exception: _broken,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.shelf = shelf
    app.state.access = access
    app.state.gallery = Gallery()
    app.state.glances = Glances(shelf.plugins, shelf.home)
    return Guard(app, access)


def _told(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, ConfigError) else 422
    return _said(request, status, "This cannot be shown", str(error))


def _opening(request: Request, error: Exception) -> Response:
    """The page asks again in a second; a part of a page that is there already is left as it is."""
    assert isinstance(error, StillOpening), error
    if "hx-request" in request.headers:
        return Response(status_code=204)
    if request.url.path.endswith(".json"):
        return JSONResponse({"opening": error.seconds}, 202)
    answer = page(request, "opening.html", 202, opening=error)
    answer.headers["refresh"] = "1"
    return answer


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), error
    title = _TITLES.get(error.status_code, "This cannot be done")
    return _said(request, error.status_code, title, f"{request.method} {request.url.path}: {error.detail}")


def _broken(request: Request, _: Exception) -> Response:
    return _said(request, 500, _TITLES[500], "The window where evolve view runs shows what happened.")


def _said(request: Request, status: int, title: str, told: str) -> Response:
    if request.url.path.endswith(".json"):
        return JSONResponse({"error": told}, status)
    request.scope["path_params"] = {}
    if "hx-request" in request.headers:
        answer = page(request, "told.html", status, told=told)
        answer.headers.update(_BESIDE)
        return answer
    return page(request, "error.html", status, title=title, told=told)
