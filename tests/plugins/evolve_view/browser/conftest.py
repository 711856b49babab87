"""A real browser before a real server: Chromium without a window, and `evolve view` in a process of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.large import make
from tests.plugins.evolve_view.hostile import hostile_campaign

RECORDS = int(os.environ.get("EVOLVE_WEB_RECORDS", "100_000"))
"""Of the large campaign; fewer are made sooner, where somebody works on a page."""
_PAUSE_MS = 250
PATIENCE_MS = 60_000
"""A log of 100,000 records is opened within it."""


@dataclass(frozen=True)
class Server:
    """Where the pages are, and what opens them."""

    address: str
    token: str
    home: Path


@dataclass
class Watched:
    """A page of the browser, and everything that it did which it should not."""

    page: Any
    server: Server
    wrong: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Goes to a page, and waits until its log is open and nothing more is loaded."""
        self.page.goto(self.server.address + path, timeout=PATIENCE_MS)
        # Between two tries there is no heading at all for a moment.
        self.until(lambda: self.page.locator("h1:not(:has-text('Opening'))").count() == 1)
        self.page.wait_for_load_state("networkidle", timeout=PATIENCE_MS)

    def until(self, is_so: Callable[[], bool], patience_ms: int = PATIENCE_MS) -> None:
        """Waits, and asks from outside: the page's policy lets nobody evaluate a text in it."""
        for _ in range(patience_ms // _PAUSE_MS):
            if is_so():
                return
            self.page.wait_for_timeout(_PAUSE_MS)
        raise AssertionError(f"{self.page.url} never came to it: {self.page.inner_text('body')[:500]}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    def watch(self) -> None:
        """From now on."""
        own = urlsplit(self.server.address).netloc
        self.page.on("console", lambda said: said.type == "error" and self.wrong.append(f"console: {said.text}"))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}") or dialog.dismiss())
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))

        def asked(request: Any) -> None:
            if request.url.startswith("http") and urlsplit(request.url).netloc != own:
                self.wrong.append(f"another host: {request.url}")

        self.page.on("request", asked)


def _evolve(home: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "evolve", *words]
    return subprocess.Popen(command, env={**os.environ, "EVOLVE_HOME": str(home)}, stdout=subprocess.PIPE, text=True)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With `real`, a few seconds of `circle_packing`, `large` of 100,000 records, and `hostile`, whose every text wants to act."""
    home = tmp_path_factory.mktemp("browser")
    run = _evolve(home, "run", "circle_packing", "--budget", "4s", "--name", "real", "--workers", "1")
    make(home, RECORDS)
    hostile_campaign(home).close()
    run.communicate(timeout=120)
    assert run.returncode == 0
    return home


def _begin_opening(host: str, token: str) -> None:
    """The large log is opened in the background, while the first tests look at the others."""
    connection = HTTPConnection(host, timeout=PATIENCE_MS / 1000)
    connection.request("GET", "/c/large", headers={"cookie": f"evolve-{host.rpartition(':')[2]}={token}"})
    assert connection.getresponse().status in (200, 202)
    connection.close()


@pytest.fixture(scope="session")
def server(workspace: Path) -> Iterator[Server]:
    """`evolve view` until the tests are over; Ctrl-C ends it well."""
    process = _evolve(workspace, "view")
    assert process.stdout is not None
    address, _, token = process.stdout.readline().strip().partition("/?token=")
    _begin_opening(urlsplit(address).netloc, token)
    yield Server(address, token, workspace)
    process.send_signal(2)
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser that the system has."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: make test-web")
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("needs Chromium: make test-web, or apt-get install chromium")
    # As root, Chromium has no box of its own; it opens nothing but this server's pages.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Any, server: Server) -> Iterator[Callable[..., Watched]]:
    """Opens the browser on the server: `look(width=400, dark=True)`; at the end nothing may have gone wrong in it."""
    opened: list[tuple[Any, Watched]] = []

    def looked(width: int = 1280, *, dark: bool = False) -> Watched:
        scheme = "dark" if dark else "light"
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        watched = Watched(context.new_page(), server)
        watched.watch()
        watched.page.goto(f"{server.address}/?token={server.token}")
        opened.append((context, watched))
        return watched

    yield looked
    for context, watched in opened:
        context.close()
        assert watched.wrong == []


@pytest.fixture
def running(server: Server, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a campaign that runs while the test does."""
    name = f"live-{request.node.originalname[-20:]}"
    process = _evolve(server.home, "run", "circle_packing", "--budget", "100s", "--workers", "1", "--name", name)
    try:
        yield name
    finally:
        process.send_signal(2)
        process.communicate(timeout=60)
