"""The server's application: pages, static files, and what is said when something is wrong.

Invariant: an error of a user is a page with one sentence; our own bug is status 500 and a traceback in the server's log, never in a page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from evolve.types import EvolveError
from evolve.web.guard import Access, Guard
from evolve.web.pages import overview
from evolve.web.rendering import FOLDER, page
from evolve.web.shelf import Shelf

GROUPS = (overview,)
"""Every module with pages."""


def application(shelf: Shelf, access: Access) -> Starlette:
    """The application for `uvicorn`; it closes the shelf when it ends."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        shelf.close()

    routes: list[BaseRoute] = [route for group in GROUPS for route in group.ROUTES]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=FOLDER / "static"))],
        middleware=[Middleware(Guard, access=access)],
        exception_handlers={EvolveError: _told, 404: _missing},
        lifespan=lifespan,
    )
    app.state.shelf = shelf
    app.state.access = access
    return app


def _told(request: Request, error: Exception) -> Response:
    return page(request, "error.html", 404, told=str(error))


def _missing(request: Request, _: Exception) -> Response:
    return page(request, "error.html", 404, told=f"there is no page {request.url.path}")
