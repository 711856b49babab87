"""However many records a campaign has, a page asks its log the same few questions."""

import sqlite3
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from benchmarks.large import make
from evolve import plugins
from evolve.log import reading
from evolve_view.app import make_application
from evolve_view.guard import Access
from evolve_view.open_campaigns import OpenCampaigns
from tests.plugins.evolve_view.conftest import ADDRESS, TOKEN

FEW, MANY = 150, 900
MOST = {
    "/c/large": 20,
    "/c/large/archive": 60,
    "/c/large/operators": 10,
    "/c/large/lessons": 10,
    "/c/large/settings": 12,
    "/compare?campaign=large": 20,
}
"""Statements that each page may need at most; the archive shows fifty elites."""


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
        while client.get(path).status_code != 200:
            time.sleep(0.01)
        asked.clear()
        assert client.get(path).status_code == 200
    return len(asked)


@pytest.mark.parametrize("path", sorted(MOST))
def test_a_page_asks_few_questions_whatever_the_number_of_records(homes, asked, path):
    few, many = (statements_of(homes[records], path, asked) for records in (FEW, MANY))
    assert max(few, many) <= MOST[path]
    assert many <= few + 5
