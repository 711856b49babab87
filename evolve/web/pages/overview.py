"""The campaigns of the workspace, and one of them at a glance.

Invariant: no text of a program is read."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.web.rendering import page
from evolve.web.shelf import Shelf


def index(request: Request) -> Response:
    """Every campaign, the one written last first."""
    shelf: Shelf = request.app.state.shelf
    names = [name for name, _ in shelf.logs()]
    return page(request, "index.html", names=names)


def overview(request: Request) -> Response:
    """One campaign."""
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(request.path_params["name"]) as campaign:
        return page(
            request, "overview.html", name=campaign.name, seen=report.overview(campaign), fitness=campaign.task.fitness
        )


ROUTES = (Route("/", index), Route("/c/{name}", overview))
