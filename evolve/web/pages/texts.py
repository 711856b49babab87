"""What a program wrote, as files to download: its own files, its artifacts, what the evaluator said of it.

Invariant: no browser shows such a file as a page, and its name means nothing to a shell, a header or a folder."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from evolve import report
from evolve.types import ConfigError, TextId
from evolve.web import addresses


def artifact(request: Request) -> Response:
    """An artifact as a file."""
    name, number = request.path_params["name"], addresses.record_of(request)
    with request.app.state.shelf.campaign(name) as campaign:
        artifacts = list(addresses.known(campaign, number).evaluation.artifacts.items())
        place = addresses.number(request.path_params["place"], "an artifact")
        if place >= len(artifacts):
            raise ConfigError(f"{name}/{number} has no artifact {place}. Do: go back, and follow a link")
        text = campaign.log.text(TextId(artifacts[place][1]))
    return _download(text, f"{name}-{number}-{artifacts[place][0]}.json")


def file(request: Request) -> Response:
    """A file of a program."""
    name, number = request.path_params["name"], addresses.record_of(request)
    with request.app.state.shelf.campaign(name) as campaign:
        addresses.known(campaign, number)
        files = list(report.program_of(campaign, number).files.items())
    place = addresses.number(request.path_params["place"], "a file")
    if place >= len(files):
        raise ConfigError(f"{name}/{number} has no file {place}. Do: go back, and follow a link")
    return _download(files[place][1], f"{name}-{number}-{files[place][0].replace('/', '-')}")


def feedback(request: Request) -> Response:
    """All that the evaluator said."""
    name, number = request.path_params["name"], addresses.record_of(request)
    with request.app.state.shelf.campaign(name) as campaign:
        text = addresses.known(campaign, number).evaluation.feedback
        told = campaign.log.text(TextId(text)) if text else ""
    return _download(told, f"{name}-{number}-feedback.txt")


def _download(text: str, name: str) -> Response:
    """A text as a file, under a name that means nothing to a shell, a header or a folder."""
    safe = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name)
    headers = {"content-disposition": f'attachment; filename="{safe.lstrip(".")[:100]}"'}
    return PlainTextResponse(text.encode("utf-8", "surrogatepass"), headers=headers)


ROUTES = (
    Route("/c/{name}/programs/{record}/artifacts/{place}", artifact),
    Route("/c/{name}/programs/{record}/files/{place}", file),
    Route("/c/{name}/programs/{record}/feedback", feedback),
)
