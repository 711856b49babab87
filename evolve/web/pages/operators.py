"""Operators and models: what each brought and cost, and how likely it is next.

Invariant: figures are sums that the fold has kept; nothing is read from the log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.report import CostLine, Slice, Yield
from evolve.types import ConfigError
from evolve.web.drawn import Chart, Series
from evolve.web.rendering import page
from evolve.web.shelf import Shelf

DRAWN = 8
"""Lines of a chart: as many as there are colours."""


@runtime_checkable
class Weighs(Protocol):
    """A strategy that says how likely each operator is at the next proposal."""

    def shares(self) -> Mapping[str, float]:
        """By the operators' names."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """An operator or a model; each part is None where there is none of it: it has made nothing, called nothing, or is not drawn by a bandit."""

    name: str
    brought: Yield | None
    cost: CostLine | None
    next: float | None


def operators(request: Request) -> Response:
    """Tables of both, and their charts."""
    shelf: Shelf = request.app.state.shelf
    with shelf.campaign(request.path_params["name"]) as campaign:
        tally, costs = report.Tally.of(campaign.state.history), report.costs(campaign)
        weights = campaign.strategy.shares() if isinstance(campaign.strategy, Weighs) else {}
        models = campaign.ensemble.shares()
        return page(
            request,
            "operators.html",
            operators=_rows(tally.yields(), costs.operators if costs else (), weights),
            models=_rows(tally.model_yields(), costs.models if costs else (), models),
            purposes=costs.purposes if costs else (),
            failures=campaign.state.calls.failures(),
            strategy=campaign.settings.strategy.name,
            reflections=tally.reflections,
            lessons=report.lessons_learnt(campaign),
            left_out=report.left_out(campaign),
        )


def _rows(yields: Sequence[Yield], costs: Sequence[CostLine], weights: Mapping[str, float]) -> tuple[Row, ...]:
    brought, paid = {line.name: line for line in yields}, {line.name: line for line in costs}
    names = dict.fromkeys([*brought, *paid, *weights])
    return tuple(Row(name, brought.get(name), paid.get(name), weights.get(name)) for name in names)


def over_time(request: Request) -> Response:
    """Of operators or models, by the path: what the query's `x` says, slice by slice."""
    shelf: Shelf = request.app.state.shelf
    what, shows = request.path_params["what"], request.query_params.get("x", "better")
    if what not in ("operators", "models") or shows not in _SHOWN:
        raise ConfigError("a chart is of operators or models, and shows better or judged. Do: go back, and choose one")
    with shelf.campaign(request.path_params["name"]) as campaign:
        return _chart(campaign, what, shows).response()


_SHOWN = {"better": "% better than their parents", "judged": "programs judged"}


def _chart(campaign: Campaign, what: str, shows: str) -> Chart:
    slices = report.slices(campaign)
    found = [(one, _named(one, what)) for one in slices]
    busy: dict[str, int] = {}
    for _, named in found:
        for name, brought in named.items():
            busy[name] = busy.get(name, 0) + brought.judged
    chosen = sorted(sorted(busy), key=lambda name: -busy[name])[:DRAWN]
    ends = tuple(float(one.last) for one in slices)
    series = [Series(name, ends, tuple(_value(named.get(name), shows) for _, named in found)) for name in chosen]
    return Chart("records", _SHOWN[shows], tuple(series))


def _named(one: Slice, what: str) -> dict[str, Yield]:
    return {brought.name: brought for brought in (one.operators if what == "operators" else one.models)}


def _value(brought: Yield | None, shows: str) -> float | None:
    """A share of nothing is none."""
    if shows == "judged":
        return float(brought.judged) if brought else 0.0
    return 100.0 * brought.share if brought and brought.judged else None


ROUTES = (
    Route("/c/{name}/operators", operators),
    Route("/c/{name}/{what}-over-time.json", over_time),
)
