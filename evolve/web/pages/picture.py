"""The picture that a task draws of a result.

Invariant: a picture is a file of its own that can do nothing: it is in no page, and what it brings runs nowhere."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve.pictures import drawing_of
from evolve.web import addresses
from evolve.web.gallery import Gallery
from evolve.web.rendering import page

_HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}


def picture_frame(request: Request) -> Response:
    """The place of the picture on a program's page; empty where its task draws none."""
    name, number = request.path_params["name"], addresses.record_of(request)
    with request.app.state.shelf.campaign(name) as campaign:
        task, has_result = campaign.task, bool(addresses.known(campaign, number).evaluation.artifacts)
    gallery: Gallery = request.app.state.gallery
    return page(request, "picture.html", number=number, draws=has_result and gallery.draws(task))


def picture(request: Request) -> Response:
    """The picture itself; the campaign is free for others while it is drawn."""
    name, number = request.path_params["name"], addresses.record_of(request)
    with request.app.state.shelf.campaign(name) as campaign:
        task, job = campaign.task, drawing_of(campaign, number)
    gallery: Gallery = request.app.state.gallery
    place = f"{request.app.state.shelf.path(name)} {number}"
    text = gallery.picture(task, place, job)
    return Response(text.encode("utf-8", "replace"), media_type="image/svg+xml", headers=_HEADERS)


ROUTES = (
    Route("/c/{name}/programs/{record}/picture", picture_frame),
    Route("/c/{name}/programs/{record}/picture.svg", picture),
)
