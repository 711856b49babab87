"""Runs the application on a socket that listens already.

Invariant: it ends with Ctrl-C, in a second, whatever pages are open."""

import logging
import socket
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from evolve.web.app import application
from evolve.web.guard import Access
from evolve.web.shelf import Shelf

CONNECTIONS = 200
"""So many at a time; whoever asks while there are more is told to come again. A browser has six to one server."""
IDLE_SECONDS = 10
"""A connection on which nothing more is asked for is closed after it; the pages of a campaign that runs ask more often."""
_PATIENCE_SECONDS = 1


def serve(listener: socket.socket, shelf: Shelf, access: Access) -> None:
    """Serves until Ctrl-C; the shelf is closed then."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    # It has ended well by then; uvicorn passes the signal on.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings(application(shelf, access))).run(sockets=[listener])


def settings(app: ASGIApp) -> uvicorn.Config:
    """How an application is served."""
    return uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
    )
