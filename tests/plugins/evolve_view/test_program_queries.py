"""How often pages of programs ask the log: so many times as there are lines on the page, however many records there are."""

import pytest

from evolve.log import reading
from evolve.types import Outcome
from tests.written import Written

PAGES = (
    "/c/{name}/programs",
    "/c/{name}/programs?text=value&sort=id",
    "/c/{name}/programs/2",
    "/c/{name}/programs/80",
    "/c/{name}/lineage",
    "/c/{name}/failures?screened=1",
)


def grown(home, name, records):
    """A campaign in which each record is a child of one of the first three, and each fifth one fails in one of two ways."""
    written = Written(home, name=name, budget=["3000programs"])
    written.seed(0.0)
    while written.next <= records:
        parent = min(written.next % 3 + 1, written.next - 1)
        if written.next % 5 == 0:
            written.failure(Outcome.CRASHED, f"kind {written.next % 2}", parents=(parent,))
        else:
            written.proposal(float(written.next), parents=(parent,))
    written.campaign.close()


@pytest.fixture(scope="module")
def two_sizes(tmp_path_factory):
    home = tmp_path_factory.mktemp("sizes")
    grown(home, "small", 100)
    grown(home, "large", 400)
    return home


@pytest.fixture
def queries(monkeypatch):
    """Every statement that a reader of a log executes."""
    told = []
    connect = reading.reading

    def traced(path):
        connection = connect(path)
        # What begins with two dashes the search index asks of itself.
        connection.set_trace_callback(lambda said: None if said.startswith("--") else told.append(said))
        return connection

    monkeypatch.setattr(reading, "reading", traced)
    return told


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_a_log_of_four_times_the_records_no_more_often(browse, two_sizes, queries, page):
    client, counts = browse(two_sizes), []
    for name in ("small", "large"):
        client.get(page.format(name=name))
        queries.clear()
        assert client.get(page.format(name=name)).status_code == 200
        counts.append(len(queries))
    assert counts[1] <= counts[0] + 2, counts
    assert counts[1] <= 140
