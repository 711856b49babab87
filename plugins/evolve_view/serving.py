"""Server of the application, on a socket that listens already. It ends with Ctrl-C, in a second, whatever pages are open."""

import asyncio
import logging
import socket
from contextlib import suppress
from typing import cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from evolve_view.app import make_application
from evolve_view.guard import Access
from evolve_view.open_campaigns import OpenCampaigns

CONNECTIONS = 200
"""So many at a time; whoever asks while there are more is told to come again. A browser has six to one server."""
IDLE_SECONDS = 10
"""A connection on which nothing more is asked for is closed after it, and so is one on which a request's headers are not all there; the pages of a campaign that runs ask more often."""
_PATIENCE_SECONDS = 1


def serve(listener: socket.socket, campaigns: OpenCampaigns, access: Access) -> None:
    """Serves until Ctrl-C; the shelf is closed then."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    # It has ended well by then; uvicorn passes the signal on.
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings(make_application(campaigns, access))).run(sockets=[listener])


def settings(app: ASGIApp) -> uvicorn.Config:
    """Returns how an application is served."""
    return uvicorn.Config(
        app,
        http=_Connection,
        access_log=False,
        log_config=None,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=_PATIENCE_SECONDS,
    )


class _Connection(H11Protocol):
    """Closed where a request's headers are not all there in time, however slowly it comes: uvicorn waits for the rest for ever."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Waits for the first request."""
        super().connection_made(cast(asyncio.Transport, transport))
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Waits for the rest, as long as from its beginning; for nothing more where all is there."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, error: Exception | None) -> None:
        """Waits for nothing more."""
        self._forget()
        super().connection_lost(error)

    def _expect(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(IDLE_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
