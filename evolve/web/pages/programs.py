"""The records of a campaign as a table: sorted, filtered, searched, page by page, and as CSV.

Invariant: the address says all of what is shown, so that a link can be shared; only the records of one page are read."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.history import KINDS, OUTCOMES
from evolve.report import Wanted
from evolve.report.columnar import harmless
from evolve.types import ConfigError, Insertion, RecordId
from evolve.web import addresses
from evolve.web.downloads import attachment
from evolve.web.rendering import page
from evolve.web.shelf import Shelf

LINES = 50
_SIZES = (50, 200)
_BATCH = 500
"""Lines of a CSV that are made at a time; others may look at the campaign in between."""
_FIELDS = (
    *("id", "program", "kind", "operator", "model", "parents", "outcome", "fitness", "standard_error", "violation"),
    *("certified", "trust", "isolation", "insertion", "island", "cell", "seconds", "cpu_seconds", "case", "tag"),
)
_ASCENDING = "asc"
_FORM = "choose"
"""The form's id: the fields that it leaves empty are not in the address that the browser then has."""


@dataclass(frozen=True, slots=True)
class View:
    """What an address asks for."""

    wanted: Wanted
    start: int = 0
    limit: int = LINES

    def query(self, **changes: object) -> dict[str, object]:
        """What stands in the address, with some of it changed; what is as always is left out."""
        wanted = self.wanted
        values = {
            "text": wanted.text,
            "outcome": wanted.outcome,
            "operator": wanted.operator,
            "model": wanted.model,
            "island": wanted.island,
            "kind": wanted.kind,
            "insertion": wanted.insertion,
            "sort": "" if wanted.sort == "fitness" else wanted.sort,
            "order": "" if wanted.descending else _ASCENDING,
            "start": self.start or "",
            "limit": "" if self.limit == LINES else self.limit,
        }
        return {**values, **changes}

    @property
    def filtered(self) -> bool:
        """Not every record is wanted."""
        sorting = {"sort", "order", "start", "limit"}
        return any(value not in ("", None) for key, value in self.query().items() if key not in sorting)


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose among."""

    outcomes: tuple[str, ...]
    operators: tuple[str, ...]
    models: tuple[str, ...]
    islands: int
    kinds: tuple[str, ...]
    insertions: tuple[str, ...]


def programs(request: Request) -> Response:
    """A page of the table."""
    shelf, name, view = request.app.state.shelf, request.path_params["name"], _view(request)
    with shelf.campaign(name) as campaign:
        found = report.page(campaign, view.wanted, view.start, view.limit)
        best = campaign.state.archive.best
        answer = page(
            request,
            "programs.html",
            view=view,
            found=found,
            choices=_choices(campaign),
            best=best.record if best else 0,
            quarantined=frozenset(campaign.state.quarantined),
            promoted=campaign.state.archive.promoted,
            children=_children(campaign, found.lines),
            fitness=campaign.task.fitness,
            link=lambda **changes: addresses.with_query(request.url.path, view.query(**changes)),
            table=addresses.with_query(f"{request.url.path}.csv", view.query(start="", limit="")),
            sizes=_SIZES,
            records=len(campaign.state.history),
        )
    if request.headers.get("hx-trigger") == _FORM:
        answer.headers["hx-push-url"] = addresses.with_query(request.url.path, view.query())
    return answer


def best(request: Request) -> Response:
    """The page of the best program."""
    name = request.path_params["name"]
    with request.app.state.shelf.campaign(name) as campaign:
        found = campaign.state.archive.best
    if found is None:
        raise ConfigError(f"campaign {name!r} has no best program yet. Do: come back when one has passed")
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(addresses.program(name, found.record) + query, 303)


def table(request: Request) -> Response:
    """All records that are wanted, as CSV."""
    shelf, name, view = request.app.state.shelf, request.path_params["name"], _view(request)
    with shelf.campaign(name) as campaign:
        places, _ = report.selected(campaign, view.wanted)
    lines = _csv(shelf, name, (places + 1).tolist())
    return StreamingResponse(lines, media_type="text/csv", headers=attachment(f"{name}.csv"))


def _csv(shelf: Shelf, name: str, records: list[RecordId]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_FIELDS)
    for begin in range(0, len(records), _BATCH):
        with shelf.campaign(name) as campaign:
            for record in records[begin : begin + _BATCH]:
                line = report.record_line(campaign, campaign.log.settled(record))
                writer.writerow([_cell(getattr(line, field)) for field in _FIELDS])
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _cell(value: object) -> object:
    """Several records stand in one cell."""
    return harmless(" ".join(map(str, value)) if isinstance(value, tuple) else value)


def _view(request: Request) -> View:
    """What the address asks for; raises `ConfigError`."""
    asked = request.query_params
    island = asked.get("island", "")
    wanted = Wanted(
        sort=asked.get("sort") or "fitness",
        descending=asked.get("order") != _ASCENDING,
        outcome=asked.get("outcome", ""),
        operator=asked.get("operator", ""),
        model=asked.get("model", ""),
        island=addresses.number(island, "an island") if island else None,
        kind=asked.get("kind", ""),
        insertion=asked.get("insertion", ""),
        text=asked.get("text", "").strip(),
    )
    limit = addresses.asked(request, "limit", LINES)
    start = addresses.asked(request, "start", 0)
    return View(wanted, start, limit if limit in _SIZES else LINES)


def _children(campaign: Campaign, lines: Sequence[report.RecordLine]) -> dict[RecordId, int]:
    """How many proposals had each of these records as a parent."""
    return {line.id: len(campaign.state.history.children(line.id)) for line in lines}


def _choices(campaign: Campaign) -> Choices:
    columns = campaign.state.columns
    counts = np.bincount(np.frombuffer(bytes(columns.outcomes), np.uint8), minlength=len(OUTCOMES))
    return Choices(
        outcomes=tuple(outcome.value for outcome, count in zip(OUTCOMES, counts, strict=True) if count),
        operators=tuple(sorted(set(columns.operators) - {""})),
        models=tuple(sorted(set(columns.models) - {""})),
        islands=campaign.state.archive.settings.islands,
        kinds=KINDS,
        insertions=tuple(insertion.name for insertion in Insertion),
    )


ROUTES = (
    Route("/c/{name}/programs", programs),
    Route("/c/{name}/programs.csv", table),
    Route("/c/{name}/programs/best", best),
)
