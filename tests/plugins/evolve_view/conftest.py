"""Campaigns to look at, and a browser without a window that opens their pages in this process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evolve import plugins
from evolve_view.app import make_application
from evolve_view.guard import Access
from evolve_view.open_campaigns import OpenCampaigns
from tests.plugins.evolve_view.hostile import hostile_campaign
from tests.written import aiming_campaign, short_campaign

TOKEN = "a-token-of-these-tests"
ADDRESS = "127.0.0.1:8421"
Browse = Callable[..., TestClient]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the campaign `hostile`, in which every text is written to become part of a page; read it, and do not write."""
    home = tmp_path_factory.mktemp("hostile")
    hostile_campaign(home).close()
    return home


@pytest.fixture(scope="session")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the campaigns `number` of six records and `number-2` with objectives; read it, and do not write."""
    home = tmp_path_factory.mktemp("looked_at")
    short_campaign(home, "number").close()
    aiming_campaign(home).close()
    return home


@pytest.fixture
def browse() -> Iterator[Browse]:
    """Opens the pages of a workspace, with the token where `known`."""
    with ExitStack() as closing:

        def opened(home: Path, *, known: bool = True) -> TestClient:
            access = Access(TOKEN, (ADDRESS, "localhost:8421"))
            campaigns = OpenCampaigns(home, plugins.load())
            client = closing.enter_context(
                TestClient(make_application(campaigns, access), base_url=f"http://{ADDRESS}", follow_redirects=False)
            )
            if known:
                client.cookies.set(access.cookie, TOKEN)
            return client

        yield opened
