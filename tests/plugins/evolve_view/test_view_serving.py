"""How many connections the server bears, and for how long one that says nothing more."""

import socket
import threading
import time
from contextlib import ExitStack, suppress

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from evolve_view import serving

pytestmark = pytest.mark.integration


def asked(address: tuple[str, int]) -> bytes:
    """The first line of what is answered."""
    with socket.create_connection(address, timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n")
        return connection.makefile("rb").readline().strip()


def test_whoever_asks_while_there_are_too_many_connections_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(serving, "CONNECTIONS", 3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(serving.settings(PlainTextResponse("seen")))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        address = listener.getsockname()
        assert asked(address) == b"HTTP/1.1 200 OK"
        with ExitStack() as idle:
            for _ in range(3):
                idle.enter_context(socket.create_connection(address))
            assert asked(address) == b"HTTP/1.1 503 Service Unavailable"
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("half", [b"", b"GET / HTTP/1.1\r\nhost: here\r\n"], ids=["nothing", "headers"])
def test_a_request_that_is_sent_by_half_holds_no_connection(monkeypatch: pytest.MonkeyPatch, half: bytes) -> None:
    """However often some more of it comes; others are answered meanwhile, and afterwards there is room again."""
    monkeypatch.setattr(serving, "CONNECTIONS", 3)
    monkeypatch.setattr(serving, "IDLE_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(serving.settings(PlainTextResponse("seen")))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        address = listener.getsockname()
        with ExitStack() as halves:
            opened = [halves.enter_context(socket.create_connection(address, timeout=30)) for _ in range(3)]
            for connection in opened:
                connection.sendall(half)
            assert asked(address) == b"HTTP/1.1 503 Service Unavailable"
            deadline = time.monotonic() + 5
            while (said := asked(address)) != b"HTTP/1.1 200 OK" and time.monotonic() < deadline:
                time.sleep(0.1)
                for connection in opened if half else ():
                    with suppress(OSError):  # the server has closed it
                        connection.sendall(b"x")
        server.should_exit = True
        thread.join()
        assert said == b"HTTP/1.1 200 OK"


def test_a_connection_on_which_nothing_is_asked_for_is_closed():
    """Sooner than the system would."""
    assert serving.settings(PlainTextResponse("seen")).timeout_keep_alive == 10
