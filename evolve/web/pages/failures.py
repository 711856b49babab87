"""What went wrong: classes of failures with examples, and when they happened.

Invariant: the last failures are read, as many as the page says, and no others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.history import KINDS, OUTCOMES
from evolve.report.failing import LOOKED_AT
from evolve.types import FAILURES, Outcome
from evolve.web import addresses
from evolve.web.rendering import page

_SLICES = 50
_JUDGED = tuple(
    outcome for outcome in OUTCOMES if outcome in FAILURES or outcome in (Outcome.INTERNAL, Outcome.BELOW_THRESHOLD)
)


@dataclass(frozen=True, slots=True)
class Slice:
    """Proposals `first` to `last`: how many there were, and how many of them ended in each of `OverTime.outcomes`."""

    first: int
    last: int
    proposals: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OverTime:
    """Failures of all proposals in slices of equally many records; `outcomes` are those that happened, with their totals."""

    outcomes: tuple[tuple[str, int], ...]
    slices: tuple[Slice, ...]


def failures(request: Request) -> Response:
    """The classes of a campaign's failures."""
    name, screened = request.path_params["name"], request.query_params.get("screened", "") == "1"
    with request.app.state.shelf.campaign(name) as campaign:
        return page(
            request,
            "failures.html",
            classes=report.failures(campaign, screened=screened),
            over_time=_over_time(campaign, (*_JUDGED, Outcome.SCREENED) if screened else _JUDGED),
            records=len(campaign.state.history),
            looked_at=LOOKED_AT,
            screened=screened,
            link=lambda **changes: addresses.with_query(request.url.path, changes),
        )


def _over_time(campaign: Campaign, kinds: Sequence[Outcome]) -> OverTime:
    columns, length = campaign.state.columns, len(campaign.state.history)
    codes = np.frombuffer(bytes(columns.outcomes), np.uint8)[:length]
    proposed = np.frombuffer(bytes(columns.kinds), np.uint8)[:length] == KINDS.index("proposal")
    totals = np.bincount(codes[proposed], minlength=len(OUTCOMES))
    happened = [outcome for outcome in kinds if totals[OUTCOMES.index(outcome)]]
    edges = np.linspace(0, length, min(_SLICES, length) + 1).astype(int)
    slices = []
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        counts = np.bincount(codes[begin:end][proposed[begin:end]], minlength=len(OUTCOMES))
        own = tuple(int(counts[OUTCOMES.index(outcome)]) for outcome in happened)
        slices.append(Slice(begin + 1, end, int(counts.sum()), own))
    return OverTime(tuple((outcome.value, int(totals[OUTCOMES.index(outcome)])) for outcome in happened), tuple(slices))


ROUTES = (Route("/c/{name}/failures", failures),)
