"""Who may see a page, and what every answer carries."""

import pytest

from evolve_view.guard import HEADERS, Access, addresses
from tests.plugins.evolve_view.conftest import ADDRESS, TOKEN

HOME = f"http://{ADDRESS}"


def protected(answer) -> bool:
    """It carries every header that keeps a program's words from acting."""
    return all(answer.headers.get(name) == value for name, value in HEADERS.items())


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1", "127.0.0.1:80", "evil.example:8421", f"{ADDRESS}.evil.example"]
)
def test_a_foreign_host_is_refused(browse, looked_at, host):
    """A page of another name that resolves to this machine reads nothing."""
    answer = browse(looked_at).get("/", headers={"host": host})
    assert (answer.status_code, protected(answer)) == (421, True)
    assert "number" not in answer.text


def test_the_other_name_of_this_machine_is_no_foreign_host(browse, looked_at):
    assert browse(looked_at).get("/", headers={"host": "localhost:8421"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/c/number", "/c/number/curve.json", "/static/site.css", "/nowhere"])
def test_without_the_token_nothing_is_shown(browse, looked_at, path):
    answer = browse(looked_at, known=False).get(path)
    assert (answer.status_code, protected(answer)) == (403, True)


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "%00", "é"])
def test_a_wrong_token_opens_nothing(browse, looked_at, token):
    client = browse(looked_at, known=False)
    assert client.get("/", params={"token": token}).status_code == 403
    client.cookies.set("evolve-8421", token.encode().decode("latin-1").encode("ascii", "ignore").decode())
    assert client.get("/").status_code == 403


def test_the_token_moves_from_the_address_into_a_cookie_that_no_script_reads(browse, looked_at):
    answer = browse(looked_at, known=False).get(f"/c/number?island=1&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"], protected(answer)) == (303, "/c/number?island=1", True)
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("evolve-8421=")
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_way_in_keeps_all_that_the_address_asks_for(browse, looked_at):
    answer = browse(looked_at, known=False).get(f"/c/number/archive?x=a&x=b&y=&token={TOKEN}")
    assert answer.headers["location"] == "/c/number/archive?x=a&x=b&y="


@pytest.mark.parametrize("query", [f"token={TOKEN}&token=wrong", f"token=wrong&token={TOKEN}"])
def test_of_several_tokens_each_must_be_right(browse, looked_at, query):
    assert browse(looked_at, known=False).get(f"/?{query}").status_code == 403


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example/", "///evil.example"])
def test_the_way_in_leads_to_no_other_host(browse, looked_at, path):
    answer = browse(looked_at, known=False).get(f"{HOME}{path}?token={TOKEN}")
    location = answer.headers["location"]
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_a_page_that_is_only_read_takes_nothing(browse, looked_at, method):
    answer = browse(looked_at).request(method, "/c/number/lessons", headers={"origin": HOME})
    assert (answer.status_code, protected(answer)) == (405, True)


def test_no_script_and_no_style_but_those_of_this_server():
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_browser_leaves_the_default_port_out_of_the_address():
    """Only that one."""
    assert addresses(80) == ("127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost")
    assert addresses(8421) == ("127.0.0.1:8421", "localhost:8421")
    assert Access(TOKEN, addresses(80)).cookie == "evolve-80"


def test_servers_on_two_ports_have_cookies_of_their_own():
    one, other = (Access(TOKEN, (f"127.0.0.1:{port}",)) for port in (8421, 8422))
    assert (one.cookie, other.cookie) == ("evolve-8421", "evolve-8422")
