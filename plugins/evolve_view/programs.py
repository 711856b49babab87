"""Programs of a campaign as a table: sorted, filtered, searched, page by page, and as CSV.

The address says all of what is shown, so that a link can be shared; only the records of one page are read."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.report import KINDS, PROGRAMS, Wanted
from evolve.types import ConfigError, Insertion
from evolve_view.requests import attachment, parse_number, query_number, render_page, root, with_query

LINES = 50
ANY = "any"
"""Word of the query for records of every kind; without it, each program is one line."""
_SIZES = (50, 200)
_ASCENDING = "asc"
_FORM = "choose"
"""The form's id: the fields that it leaves empty are not in the address that the browser then has."""


@dataclass(frozen=True, slots=True)
class TableView:
    """Part of the table that an address asks for."""

    wanted: Wanted
    start: int = 0
    limit: int = LINES

    def query(self, **changes: object) -> dict[str, object]:
        """Returns the fields of the address, with some of them changed; defaults are left out."""
        wanted = self.wanted
        values = {
            "text": wanted.text,
            "outcome": wanted.outcome,
            "operator": wanted.operator,
            "model": wanted.model,
            "island": wanted.island,
            "kind": "" if wanted.kind == PROGRAMS else wanted.kind or ANY,
            "insertion": wanted.insertion,
            "sort": "" if wanted.sort == "fitness" else wanted.sort,
            "order": "" if wanted.descending else _ASCENDING,
            "start": self.start or "",
            "limit": "" if self.limit == LINES else self.limit,
        }
        return {**values, **changes}

    @property
    def filtered(self) -> bool:
        """True where something was chosen."""
        sorting = {"sort", "order", "start", "limit"}
        return any(value not in ("", None) for key, value in self.query().items() if key not in sorting)


@dataclass(frozen=True, slots=True)
class Choices:
    """Values of the form's fields."""

    outcomes: tuple[str, ...]
    operators: tuple[str, ...]
    models: tuple[str, ...]
    islands: int
    kinds: tuple[str, ...]
    insertions: tuple[str, ...]


def show_programs(request: Request) -> Response:
    """Answers with a page of the table."""
    campaigns, name, view = request.app.state.campaigns, request.path_params["name"], _read_view(request)
    with campaigns.campaign(name) as campaign:
        found = report.page(campaign, view.wanted, view.start, view.limit)
        best = campaign.state.archive.best
        answer = render_page(
            request,
            "programs.html",
            view=view,
            found=found,
            choices=_find_choices(campaign),
            best=best.record if best else 0,
            quarantined=frozenset(campaign.state.quarantined),
            promoted=campaign.state.archive.promoted,
            children={line.id: len(campaign.state.history.children(line.id)) for line in found.lines},
            fitness=campaign.task.fitness,
            link=lambda **changes: with_query(request.url.path, view.query(**changes)),
            table=with_query(f"{request.url.path}.csv", view.query(start="", limit="")),
            sizes=_SIZES,
            records=len(campaign.state.history),
            programs=PROGRAMS,
        )
    if request.headers.get("hx-trigger") == _FORM:
        answer.headers["hx-push-url"] = with_query(request.url.path, view.query())
    return answer


def show_best(request: Request) -> Response:
    """Redirects to the page of the best program."""
    name = request.path_params["name"]
    with request.app.state.campaigns.campaign(name) as campaign:
        found = campaign.state.archive.best
    if found is None:
        raise ConfigError(f"campaign {name!r} has no best program yet. Try: come back when one has passed")
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{root(name)}/programs/{found.record}{query}", 303)


def download_table(request: Request) -> Response:
    """Answers with all lines that the table has, as CSV."""
    campaigns, name, view = request.app.state.campaigns, request.path_params["name"], _read_view(request)
    with campaigns.campaign(name) as campaign:
        places, _ = report.selected(campaign, view.wanted)
        table = report.columnar(campaign, (places + 1).tolist())
    text = report.format_csv(table).encode("utf-8", "replace")
    return Response(text, media_type="text/csv", headers=attachment(f"{name}.csv"))


def _read_view(request: Request) -> TableView:
    """Reads what the address asks for; raises `ConfigError`."""
    query = request.query_params
    island, kind = query.get("island", ""), query.get("kind") or PROGRAMS
    wanted = Wanted(
        sort=query.get("sort") or "fitness",
        descending=query.get("order") != _ASCENDING,
        outcome=query.get("outcome", ""),
        operator=query.get("operator", ""),
        model=query.get("model", ""),
        island=parse_number(island, "an island") if island else None,
        kind="" if kind == ANY else kind,
        insertion=query.get("insertion", ""),
        text=query.get("text", "").strip(),
    )
    limit = query_number(request, "limit")
    return TableView(wanted, query_number(request, "start") or 0, limit if limit in _SIZES else LINES)


def _find_choices(campaign: Campaign) -> Choices:
    columns = campaign.state.columns
    return Choices(
        outcomes=tuple(report.tally(campaign).outcomes),
        operators=tuple(sorted(set(columns.operators) - {""})),
        models=tuple(sorted(set(columns.models) - {""})),
        islands=campaign.state.archive.settings.islands,
        kinds=(ANY, *KINDS),
        insertions=tuple(insertion.name for insertion in Insertion),
    )


ROUTES = (
    Route("/c/{name}/programs", show_programs),
    Route("/c/{name}/programs.csv", download_table),
    Route("/c/{name}/programs/best", show_best),
)
