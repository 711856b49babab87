"""Every page, opened: names are no paths, errors are pages, few questions are asked."""

import re
import sqlite3
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from benchmarks.large import make
from evolve import plugins
from evolve.log import reading
from evolve_view import app
from evolve_view.app import make_application
from evolve_view.guard import Access
from evolve_view.open_campaigns import OpenCampaigns
from evolve_view.rendering import FOLDER
from tests.plugins.evolve_view.conftest import ADDRESS, TOKEN
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in
from tests.plugins.evolve_view.test_view_guard import protected

OURS = sorted([*(FOLDER / "static").iterdir(), *(FOLDER / "templates").iterdir()])


@pytest.mark.parametrize("path", ["/nowhere", "/c/number/nowhere", "/c/", "/static/nowhere.js", "/c/number/programs/"])
def test_what_is_not_there_is_said_on_a_page(browse, looked_at, path):
    answer = browse(looked_at).get(path)
    assert (answer.status_code, protected(answer)) == (404, True)
    assert "There is no such page" in answer.text


def test_a_campaign_that_is_not_there_is_named_with_its_likeness(browse, looked_at):
    answer = browse(looked_at).get("/c/numbr")
    assert answer.status_code == 404
    assert "there is no campaign 'numbr' here" in text_of(answer.text)
    assert "number" in text_of(answer.text)


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "%2fetc%2fpasswd", "..%5c..", "outside.db", ".hidden", "a%00b", "~root"]
)
@pytest.mark.parametrize("rest", ["", "/archive", "/programs.csv"])
def test_a_name_in_an_address_is_no_path(browse, looked_at, tmp_path, monkeypatch, name, rest):
    """Not even of a log that lies in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outside.db").write_bytes((looked_at / "archive" / "campaigns" / "number.db").read_bytes())
    answer = browse(looked_at).get(f"/c/{name}{rest}")
    assert answer.status_code == 404
    assert protected(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
    ],
)
def test_static_files_are_those_of_one_folder(browse, looked_at, path):
    answer = browse(looked_at).get(path)
    assert answer.status_code == 404
    assert "import" not in text_of(answer.text)


def test_what_is_wrong_is_said_as_text(browse, looked_at):
    for query in (f"x={EVIL}", f"island={EVIL}", "island=99", f"start={EVIL}"):
        answer = browse(looked_at).get("/c/number/archive", params=dict([query.split("=", 1)]))
        assert (answer.status_code, wrong_in(answer.text), protected(answer)) == (404, [], True)


def test_a_mistake_of_ours_shows_nothing_of_itself(looked_at, monkeypatch):
    def mistaken(_: Request) -> Response:
        raise RuntimeError("the token is in here")

    class Broken:
        ROUTES = (Route("/broken", mistaken),)

    monkeypatch.setattr(app, "GROUPS", (Broken,))
    access = Access(TOKEN, (ADDRESS,))
    with TestClient(
        app.make_application(OpenCampaigns(looked_at, plugins.load()), access),
        base_url=f"http://{ADDRESS}",
        raise_server_exceptions=False,
    ) as client:
        client.cookies.set(access.cookie, TOKEN)
        answer = client.get("/broken")
    assert (answer.status_code, protected(answer)) == (500, True)
    assert "the token is in here" not in answer.text


@pytest.mark.parametrize("file", OURS, ids=lambda path: path.name)
def test_nothing_is_loaded_from_another_host(file: Path):
    """No template and no static file names one; a picture's name of its kind of XML and the licences' texts are no addresses to load."""
    text = file.read_text("utf-8").replace("http://www.w3.org/", "")
    loads = r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:)?//|@import|url\(|fetch\(\s*["'`]https?:"""
    assert re.findall(loads, text) == []


@pytest.mark.parametrize("file", [one for one in OURS if one.suffix == ".html"], ids=lambda path: path.name)
def test_a_template_has_no_script_no_style_and_nothing_that_is_not_escaped(file: Path):
    text = file.read_text("utf-8")
    if file.name == "report.html":  # a file of its own, which has its style sheet in it
        text = text.replace("<style>{{ style }}</style>", "")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|hx-on|\|\s*safe\b|autoescape", text)


PAGES = (
    "/",
    "/c/{name}",
    "/c/{name}/archive",
    "/c/{name}/archive?island=0",
    "/c/{name}/operators",
    "/c/{name}/calls",
    "/c/{name}?x=money",
    "/c/{name}/lessons",
    "/c/{name}/lineage",
    "/c/{name}/settings",
)


@pytest.mark.parametrize("name", ["number", "number-2"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens(browse, looked_at, path, name):
    answer = browse(looked_at).get(path.format(name=name))
    assert answer.status_code == 200, text_of(answer.text)


@pytest.mark.parametrize("path", PAGES)
def test_what_programs_and_persons_wrote_is_text_on_every_page(browse, hostile, path):
    answer = browse(hostile).get(path.format(name="hostile"))
    assert answer.status_code == 200, text_of(answer.text)
    assert wrong_in(answer.text) == []


FEW, MANY = 150, 900
MOST = {
    "/c/large": 20,
    "/c/large/archive": 60,
    "/c/large/operators": 10,
    "/c/large/calls": 60,
    "/c/large/lessons": 10,
    "/c/large/settings": 12,
}
"""Statements that each page may need at most; the archive shows fifty elites, the calls what came of fifty."""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A workspace for each number of records."""
    found = {records: tmp_path_factory.mktemp(f"records{records}") for records in (FEW, MANY)}
    for records, home in found.items():
        make(home, records)
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that a log is asked."""
    statements: list[str] = []
    connect = reading.reading

    def traced(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(reading, "reading", traced)
    return statements


def statements_of(home: Path, path: str, asked: list[str]) -> int:
    """How many statements a page needs when the log is open."""
    access = Access(TOKEN, (ADDRESS,))
    with TestClient(
        make_application(OpenCampaigns(home, plugins.load()), access), base_url=f"http://{ADDRESS}"
    ) as client:
        client.cookies.set(access.cookie, TOKEN)
        assert client.get(path).status_code == 200
        asked.clear()
        assert client.get(path).status_code == 200
    return len(asked)


@pytest.mark.parametrize("path", sorted(MOST))
def test_a_page_asks_few_questions_whatever_the_number_of_records(homes, asked, path):
    few, many = (statements_of(homes[records], path, asked) for records in (FEW, MANY))
    assert max(few, many) <= MOST[path]
    assert many <= few + 5
