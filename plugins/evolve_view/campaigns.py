"""Page of the campaigns of a workspace; no log is replayed for it."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.report import CampaignLine
from evolve_view.open_campaigns import OpenCampaigns
from evolve_view.requests import render_page

LISTED = 200
"""Campaigns on the list, those written last."""


class CampaignLines:
    """Lines of campaigns, each read again only where its log was written since."""

    def __init__(self) -> None:
        self._lines: dict[Path, tuple[tuple[int, ...], CampaignLine]] = {}

    def read(self, path: Path) -> CampaignLine:
        """Returns the line of a log."""
        status = path.stat()
        version = status.st_ino, status.st_size, status.st_mtime_ns
        known = self._lines.get(path)
        # A campaign that runs writes into the file beside its log first.
        if known is None or known[0] != version or known[1].state:
            self._lines[path] = version, report.read_campaign_line(path)
        return self._lines[path][1]


def show_list(request: Request) -> Response:
    """Answers with every campaign, the one written last first."""
    campaigns: OpenCampaigns = request.app.state.campaigns
    logs = campaigns.logs()
    lines = [(name, request.app.state.lines.read(path)) for name, path in logs[:LISTED]]
    return render_page(
        request,
        "index.html",
        lines=lines,
        left_out=max(0, len(logs) - LISTED),
        changing=any(line.state for _, line in lines),
    )


ROUTES = (Route("/", show_list),)
