"""Pages of a campaign's calls of models: all of them, the newest first, and one with its prompt by sections, the reply, and what came of it.

Only the calls of one page are read. A prompt that waits in a mailbox is no call yet: `letters` shows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.report import CALL_ENDS, CallShown, WantedCalls
from evolve.types import RecordId
from evolve_view.code import FileChange, compare_files
from evolve_view.letters import list_letters
from evolve_view.requests import parse_number, query_number, render_page, with_query

LINES = 50
"""Calls on a page."""
CHARACTERS = 100_000
"""Characters of a section of a prompt, or of a reply, that are on the page."""


def show_calls(request: Request) -> Response:
    """Answers with a page of the calls; the query says of which `operator` and `purpose`, how they `ended`, and where the list begins."""
    query, start = request.query_params, query_number(request, "start") or 0
    wanted = WantedCalls(query.get("operator", ""), query.get("purpose", ""), query.get("ended", ""))
    chosen = {"operator": wanted.operator, "purpose": wanted.purpose, "ended": wanted.ended}
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        columns = campaign.state.calls.columns
        return render_page(
            request,
            "calls.html",
            found=report.calls_page(campaign, wanted, start, LINES),
            wanted=wanted,
            operators=sorted(set(columns.operators) - {""}),
            purposes=sorted(set(columns.purposes)),
            ends=CALL_ENDS,
            lines=LINES,
            pending=report.pending_calls(campaign),
            letters=list_letters(campaign),
            fitness=campaign.task.fitness,
            calls=len(columns.steps),
            link=lambda **changes: with_query(request.url.path, {**chosen, "start": start or "", **changes}),
        )


@dataclass(frozen=True, slots=True)
class ResultChange:
    """Change that a record of a call's step made to its first parent."""

    record: RecordId
    parent: RecordId
    files: tuple[FileChange, ...]


def show_call(request: Request) -> Response:
    """Answers with one call, by the number of its event."""
    number = parse_number(request.path_params["call"], "a call")
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        shown = report.read_call(campaign, number)
        return render_page(
            request,
            "call.html",
            entry=shown.entry,
            whole=shown.whole,
            changes=_read_changes(campaign, shown),
            tokens=sum(said.tokens for said in shown.whole.prompt),
            characters=CHARACTERS,
            fitness=campaign.task.fitness,
            neighbours=_find_neighbours(campaign, number),
        )


def _read_changes(campaign: Campaign, shown: CallShown) -> tuple[ResultChange, ...]:
    """Returns what differs between each program of the call's step and its first parent."""
    lines = [result.record for result in shown.entry.results if result.record.program and result.record.parents]
    return tuple(
        ResultChange(
            line.id,
            line.parents[0],
            compare_files(_read_files(campaign, line.parents[0]), _read_files(campaign, line.id)),
        )
        for line in lines
    )


def _read_files(campaign: Campaign, record: RecordId) -> Mapping[str, str]:
    known = campaign.state.history.program_id(record)
    return campaign.state.history.program(known).files if known else {}


def _find_neighbours(campaign: Campaign, number: int) -> tuple[int, int]:
    """Returns the calls before and after one, 0 where there is none."""
    numbers = [0, *report.call_numbers(campaign), 0]
    place = numbers.index(number, 1)
    return numbers[place - 1], numbers[place + 1]


ROUTES = (
    Route("/c/{name}/calls", show_calls),
    Route("/c/{name}/calls/{call}", show_call),
)
