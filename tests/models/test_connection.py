import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from evolve.models import connection
from evolve.protocols import Model
from evolve.types import ConfigError, ModelDown, ModelError, ModelGone
from tests.models.asking import ask, asked_of
from tests.models.fault_server import HANG, OK, FaultServer, Step
from tests.models.meanwhile import until

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that signs itself, for this machine."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    made = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    named = ["-subj", "/CN=loopback", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*made, *named, "-keyout", str(file), "-out", f"{file}.crt"], check=True, capture_output=True)
    file.write_text(file.read_text() + Path(f"{file}.crt").read_text())
    return file


def test_calls_over_tls_are_answered_on_one_connection(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with FaultServer(certificate=certificate) as server, asked_of(server) as model:
        assert [ask(model)[0].text for _ in range(3)] == ["hello"] * 3
        assert server.connections == 1


def test_a_call_over_tls_is_cancelled_like_any_other(certificate: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    cancelled = threading.Event()
    with FaultServer([HANG], certificate=certificate) as server, asked_of(server) as model:
        timer = threading.Timer(0.2, cancelled.set)
        timer.start()
        with pytest.raises(ModelError, match="cancelled"):
            ask(model, seconds=600, cancelled=cancelled)
        timer.join()


def test_a_certificate_that_nobody_trusts_is_an_error_with_its_remedy(certificate: Path):
    with FaultServer(certificate=certificate) as server, asked_of(server) as model:
        with pytest.raises(ModelGone, match=r"not trusted.*Try: set \$SSL_CERT_FILE"):
            ask(model)
        assert server.count == 0


def test_a_server_that_speaks_no_tls_is_down():
    with FaultServer() as server, asked_of(server, base_url=server.url.replace("http:", "https:")) as model:
        with pytest.raises(ModelDown, match="cannot be reached"):
            ask(model, seconds=0.3)
        assert server.count == 0


def test_a_server_that_never_greets_is_given_up_at_the_deadline():
    """It takes connections, and says nothing on them."""
    with socket.create_server(("127.0.0.1", 0)) as listener, FaultServer() as unused:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        with asked_of(unused, base_url=url) as model, pytest.raises(ModelDown, match="cannot be reached"):
            ask(model, seconds=0.3)


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch):
    with FaultServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        with asked_of(proxy, base_url="http://far.internal:8000/v1") as model:
            assert ask(model)[0].text == "hello"
        assert proxy.asked[0].path == "http://far.internal:8000/v1/chat/completions"


def test_no_proxy_stands_between_this_machine_and_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with FaultServer() as server, asked_of(server) as model:
        assert ask(model)[0].text == "hello"


def test_a_proxy_of_another_kind_is_one_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "socks5://user:secret@127.0.0.1:9")
    with pytest.raises(ConfigError, match=r"not reached by http\. Try: ") as raised:
        connection._open_client()
    assert "secret" not in str(raised.value)


def test_a_name_without_an_address_is_down():
    with (
        FaultServer() as server,
        asked_of(server, base_url="http://no-such-host.invalid.local/v1") as model,
        pytest.raises(ModelDown, match="cannot be reached: its name has no address"),
    ):
        ask(model)


def test_connections_are_kept_and_used_again():
    with FaultServer(last=OK) as server, asked_of(server) as model:
        for _ in range(5):
            ask(model)
        assert (server.connections, server.connected) == (1, 1)


def _at_once(model: Model, count: int) -> None:
    with ThreadPoolExecutor(count) as threads:
        assert [replies[0].text for replies in threads.map(lambda _: ask(model), range(count))] == ["hello"] * count


def test_each_call_in_flight_has_a_connection_and_later_ones_use_them_again():
    meeting = replace(OK, together=3)
    with FaultServer([meeting] * 3, last=OK) as server, asked_of(server) as model:
        _at_once(model, 3)
        assert (server.connections, server.connected) == (3, 3)
        for _ in range(4):
            ask(model)
        assert (server.connections, server.connected) == (3, 3)


def test_connections_that_nobody_has_used_for_long_are_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connection, "IDLE_SECONDS", 0.2)
    meeting = replace(OK, together=3)
    with FaultServer([meeting] * 3, last=OK) as server, asked_of(server) as model:
        _at_once(model, 3)
        time.sleep(0.3)
        ask(model)
        assert server.connections == 4
        until(lambda: server.connected == 1)


def test_a_connection_through_a_proxy_is_used_again(monkeypatch: pytest.MonkeyPatch):
    with FaultServer() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        with asked_of(proxy, base_url="http://far.internal:8000/v1") as model:
            ask(model)
            ask(model)
        assert proxy.connections == 1


def test_a_server_that_says_continue_for_ever_is_left_at_the_deadline():
    """It never makes the call wait, so that only the clock ends it."""
    endless = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            while not endless.is_set():
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 2000)

    with socket.create_server(("127.0.0.1", 0)) as listener, FaultServer() as unused:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with asked_of(unused, base_url=url) as model, pytest.raises(ModelDown, match="nothing came"):
            ask(model, seconds=0.5)
        endless.set()
        thread.join()


def test_an_answer_that_stalls_is_left_at_the_deadline_though_it_trickles():
    piece = 'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'
    trickle = Step(body=piece * 3, headers={"Content-Length": "9999", "Content-Type": "text/event-stream"}, stall_at=60)
    with (
        FaultServer([trickle]) as server,
        asked_of(server) as model,
        pytest.raises(ModelError, match="in the middle"),
    ):
        ask(model, seconds=0.3)
