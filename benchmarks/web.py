"""How long the server takes for each page of `evolve view`, of a campaign of 100,000 records whose log is open: the median of a few requests.

The requests are made in this process, without a network; another page of a live campaign costs the same, since it only folds what is new."""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from figures import report
from large import make
from starlette.testclient import TestClient

from evolve import plugins
from evolve_view.app import make_application
from evolve_view.guard import Access
from evolve_view.open_campaigns import OpenCampaigns

TIMES = 5
ADDRESS = "127.0.0.1:8421"
PAGES = {
    "list": "/",
    "overview": "/c/large",
    "archive": "/c/large/archive",
    "archive_axes": "/c/large/archive?x=branches&y=size&island=1",
    "programs": "/c/large/programs",
    "programs_sorted": "/c/large/programs?sort=operator&order=asc&start=50000",
    "programs_searched": "/c/large/programs?text=evolution",
    "program": "/c/large/programs/90000",
    "program_blamed": "/c/large/programs/90000?blame=1",
    "dots": "/c/large/dots",
    "lineage": "/c/large/lineage",
    "lineage_all": "/c/large/lineage?show=all",
    "calls": "/c/large/calls",
    "calls_chosen": "/c/large/calls?operator=rewrite&ended=failed",
    "failures": "/c/large/failures?screened=1",
    "operators": "/c/large/operators",
    "lessons": "/c/large/lessons",
    "settings": "/c/large/settings",
}
WANTED = {f"{name}_ms": "<= 300" for name in PAGES}


def opened(client: TestClient, path: str) -> float:
    """Seconds until the log is open."""
    begun = time.perf_counter()
    while client.get(path).status_code != 200:
        time.sleep(0.01)
    return time.perf_counter() - begun


def milliseconds(client: TestClient, path: str) -> float:
    """The median of a few requests of a page."""
    taken = []
    for _ in range(TIMES):
        begun = time.perf_counter()
        answer = client.get(path)
        taken.append(1000.0 * (time.perf_counter() - begun))
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
    return statistics.median(taken)


def measure(home: Path) -> dict[str, float]:
    """All figures of the campaign `large` of a workspace."""
    access = Access("token", (ADDRESS,))
    with TestClient(
        make_application(OpenCampaigns(home, plugins.load()), access), base_url=f"http://{ADDRESS}"
    ) as client:
        client.cookies.set(access.cookie, access.token)
        seconds = opened(client, "/c/large")
        pages = {f"{name}_ms": milliseconds(client, path) for name, path in PAGES.items()}
    return {"opening_seconds": seconds, **pages}


def main() -> None:
    """Runs the benchmark and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evolve-web-") as folder:
        print(f"{make(Path(folder), given.records)} is made", file=sys.stderr)
        report("web", measure(Path(folder)), WANTED, given.json)


if __name__ == "__main__":
    main()
