"""One program with everything that its score rests on.

Invariant: what it costs does not grow with the campaign, and everything that a program wrote is escaped."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.types import RecordId
from evolve.web import addresses, code
from evolve.web.change import Change, changes
from evolve.web.evidence import Evidence, evidence
from evolve.web.rendering import page
from evolve.web.shelf import Shelf

CHILDREN = 25
STEPS = 50
"""Children and steps of the lineage that are on the page."""


def program(request: Request) -> Response:
    """A record and its program."""
    name, number = request.path_params["name"], addresses.record_of(request)
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(name) as campaign:
        addresses.known(campaign, number)
        found = evidence(campaign, number)
        against = _against(request, campaign, found)
        files = _files(campaign, number)
        blamed = "blame" in request.query_params and bool(files)
        return page(
            request,
            "program.html",
            found=found,
            task=campaign.task,
            fitness=campaign.task.fitness,
            records=len(campaign.state.history),
            files=code.shown(files),
            blame=_blame(campaign, number) if blamed else {},
            again=_again(found.shown),
            against=against,
            changes=_changes(campaign, against, files),
            lineage=report.lineage(campaign, number, STEPS),
            objectives=report.objectives(campaign.task, found.record.evaluation.objectives),
            blamed=blamed,
            children=report.children(campaign, number, CHILDREN),
            best_child=_best_child(campaign, number),
            calls=report.calls_of(campaign, found.shown.record.about or number),
        )


def _again(shown: report.Shown) -> tuple[report.RecordLine, ...]:
    """Later measurements but for those that the table of cases names."""
    named = {case.name for case in shown.cases}
    return tuple(line for line in shown.judged_again if line.name not in named)


def _blame(campaign: Campaign, number: RecordId) -> dict[tuple[str, int], report.BlameLine]:
    """Who brought each line, by its file and number."""
    return {(line.path, line.number): line for line in report.blame(campaign, number)}


def _files(campaign: Campaign, number: RecordId) -> Mapping[str, str]:
    """Of its program; none where its proposal was screened."""
    known = campaign.state.history.program_id(number)
    return campaign.state.history.program(known).files if known else {}


def _against(request: Request, campaign: Campaign, found: Evidence) -> RecordId:
    """The record to compare with: the one that the address names, else the first parent; 0 for none."""
    asked = addresses.asked(request, "against", 0)
    if asked:
        return addresses.known(campaign, asked).id
    return found.made.parents[0] if found.made.parents else 0


def _changes(campaign: Campaign, against: RecordId, files: Mapping[str, str]) -> tuple[Change, ...]:
    return changes(_files(campaign, against), files) if against and files else ()


def _best_child(campaign: Campaign, number: RecordId) -> RecordId:
    """The fittest one, those that meet the constraints first; 0 where none has passed."""
    history = campaign.state.history
    fit = [
        (history.violation(child), -value, child)
        for child in history.children(number)
        if (value := history.fitness(child)) is not None
    ]
    return min(fit)[2] if fit else 0


ROUTES = (Route("/c/{name}/programs/{record}", program),)
