"""Runs the application on a socket that listens already.

Invariant: it ends with Ctrl-C, in a second, whatever pages are open."""

import logging
import socket
from contextlib import suppress

import uvicorn

from evolve.web.app import application
from evolve.web.guard import Access
from evolve.web.shelf import Shelf

_PATIENCE_SECONDS = 1


def serve(listener: socket.socket, shelf: Shelf, access: Access) -> None:
    """Serves until Ctrl-C; the shelf is closed then."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    settings = uvicorn.Config(
        application(shelf, access),
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
    )
    # It has ended well by then; uvicorn passes the signal on.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=[listener])
