"""Page of one program with everything that its score rests on, and the files to download.

The cost of a page does not grow with the campaign; everything that a program wrote is escaped, and its files are text that no browser shows as a page."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.types import ConfigError, RecordId, TextId
from evolve_view.code import compare_files, show_files
from evolve_view.requests import (
    attachment,
    parse_number,
    path_record,
    query_choice,
    query_number,
    render_page,
    with_query,
)

CHARACTERS, NUMBERS, ARTIFACTS = 20_000, 200, 50
"""Characters of a text, metrics, and artifacts that are on the page."""
CHILDREN, STEPS = 25, 50
"""Children and steps of the lineage that are on the page."""


def show_program(request: Request) -> Response:
    """Answers with a record and its program, beside the record that the query's `against` names, or else its first parent."""
    name, number = request.path_params["name"], path_record(request)
    against, beside = query_number(request, "against"), query_choice(request, "diff", ("unified", "side")) == "side"
    with request.app.state.campaigns.campaign(name) as campaign:
        shown = report.whole(campaign, number)
        files, parents = shown.files, shown.made.parents
        other = report.settled(campaign, against).record.id if against else parents[0] if parents else 0
        blamed = "blame" in request.query_params and bool(files)
        blame = report.blame(campaign, number) if blamed else ()
        return render_page(
            request,
            "program.html",
            shown=shown,
            lineage=report.lineage(campaign, number, STEPS),
            children=report.children(campaign, number, CHILDREN),
            places=[elite for elite in campaign.state.archive.elites() if elite.program == shown.record.program],
            calls=report.calls_of(campaign, shown.record.about or number),
            task=campaign.task,
            fitness=campaign.task.fitness,
            records=len(campaign.state.history),
            files=show_files(files),
            blame={(line.path, line.number): line for line in blame},
            blamed=blamed,
            against=other,
            beside=beside,
            compare=lambda how: with_query(request.url.path, {"against": against, "diff": how}),
            changes=compare_files(_files_of(campaign, other), files) if other and files else (),
            artifacts=_read_artifacts(campaign, number),
            characters=CHARACTERS,
            metrics=list(shown.metrics.items())[:NUMBERS],
        )


def _files_of(campaign: Campaign, number: RecordId) -> Mapping[str, str]:
    """Returns the files of a record's program; none where its proposal was screened."""
    known = campaign.state.history.program_id(number)
    return campaign.state.history.program(known).files if known else {}


def _read_artifacts(campaign: Campaign, number: RecordId) -> list[tuple[str, str]]:
    artifacts = campaign.log.settled(number).record.evaluation.artifacts
    return [(name, campaign.state.history.text(text)) for name, text in list(artifacts.items())[:ARTIFACTS]]


def download_artifact(request: Request) -> Response:
    """Answers with an artifact as a file."""
    name, number, place = _read_place(request, "an artifact")
    with request.app.state.campaigns.campaign(name) as campaign:
        artifacts = list(report.settled(campaign, number).record.evaluation.artifacts.items())
        if place >= len(artifacts):
            raise ConfigError(f"{name}/{number} has no artifact {place}. Try: go back, and follow a link")
        text = campaign.log.text(TextId(artifacts[place][1]))
    return _download(text, f"{name}-{number}-{artifacts[place][0]}.json")


def download_file(request: Request) -> Response:
    """Answers with a file of a program."""
    name, number, place = _read_place(request, "a file")
    with request.app.state.campaigns.campaign(name) as campaign:
        report.settled(campaign, number)
        files = list(report.program_of(campaign, number).files.items())
    if place >= len(files):
        raise ConfigError(f"{name}/{number} has no file {place}. Try: go back, and follow a link")
    return _download(files[place][1], f"{name}-{number}-{files[place][0].replace('/', '-')}")


def download_feedback(request: Request) -> Response:
    """Answers with all that the evaluator said."""
    name, number = request.path_params["name"], path_record(request)
    with request.app.state.campaigns.campaign(name) as campaign:
        text = report.settled(campaign, number).record.evaluation.feedback
        told = campaign.log.text(TextId(text)) if text else ""
    return _download(told, f"{name}-{number}-feedback.txt")


def _read_place(request: Request, what: str) -> tuple[str, RecordId, int]:
    return request.path_params["name"], path_record(request), parse_number(request.path_params["place"], what)


def _download(text: str, name: str) -> Response:
    # Plain text, so that no browser takes it for a page.
    return PlainTextResponse(text.encode("utf-8", "surrogatepass"), headers=attachment(name))


ROUTES = (
    Route("/c/{name}/programs/{record}", show_program),
    Route("/c/{name}/programs/{record}/artifacts/{place}", download_artifact),
    Route("/c/{name}/programs/{record}/files/{place}", download_file),
    Route("/c/{name}/programs/{record}/feedback", download_feedback),
)
