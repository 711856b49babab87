"""Application of the server: pages, static files, and what is said when something is wrong.

An error of a user is a page with one sentence; our own bug is status 500 and a traceback in the server's log, never in a page. Whatever is answered has
passed the guard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from evolve.types import ConfigError, EvolveError
from evolve_view import (
    activity,
    archive,
    calls,
    campaigns,
    dots,
    letters,
    lineage,
    overview,
    pictures,
    program,
    programs,
)
from evolve_view.campaigns import CampaignLines
from evolve_view.guard import Access, Guard
from evolve_view.open_campaigns import OpenCampaigns
from evolve_view.pictures import Gallery
from evolve_view.rendering import FOLDER
from evolve_view.requests import render_page

GROUPS = (campaigns, overview, dots, archive, activity, calls, letters, programs, program, pictures, lineage)
"""Every module with pages."""
_BESIDE = {"hx-retarget": "#told", "hx-reswap": "innerHTML", "hx-reselect": "#wrong"}
"""Headers of an error in a part of a page: it is said at the page's top, and the part stays as it was."""
_TITLES = {404: "There is no such page", 405: "This page is only for reading", 500: "That is our mistake"}


def make_application(open_campaigns: OpenCampaigns, access: Access) -> Guard:
    """Returns the application for `uvicorn`; it closes the campaigns when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        open_campaigns.close()

    routes: list[BaseRoute] = [route for group in GROUPS for route in group.ROUTES]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=FOLDER / "static"))],
        exception_handlers={
            EvolveError: _answer_error,
            HTTPException: _answer_refusal,
            Exception: _answer_bug,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.campaigns = open_campaigns
    app.state.gallery = Gallery()
    app.state.lines = CampaignLines()
    return Guard(app, access)


def _answer_error(request: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, ConfigError) else 422
    return _answer(request, status, "This cannot be shown", str(error))


def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), error
    title = _TITLES.get(error.status_code, "This cannot be done")
    return _answer(request, error.status_code, title, f"{request.method} {request.url.path}: {error.detail}")


def _answer_bug(request: Request, _: Exception) -> Response:
    return _answer(request, 500, _TITLES[500], "The window where evolve view runs shows what happened.")


def _answer(request: Request, status: int, title: str, told: str) -> Response:
    request.scope["path_params"] = {}
    if "hx-request" in request.headers:
        answer = render_page(request, "told.html", status, told=told)
        answer.headers.update(_BESIDE)
        return answer
    return render_page(request, "error.html", status, title=title, told=told)
