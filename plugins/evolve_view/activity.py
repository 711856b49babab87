"""Pages of a campaign's activity: operators and models, failures, lessons and hints."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.inbox import PERSON, Hint, Inbox
from evolve.report import LOOKED_AT, CostLine, Yield
from evolve.types import Lesson, LessonWritten
from evolve_view.requests import render_page, with_query

_LESSONS = 300
"""Lessons on the page, the newest."""


@runtime_checkable
class WeighsOperators(Protocol):
    """A strategy that says how likely each operator is at the next proposal."""

    def shares(self) -> Mapping[str, float]:
        """Returns the shares by the operators' names."""
        ...


@dataclass(frozen=True, slots=True)
class YieldRow:
    """An operator or a model; each part is None where there is none of it: it has made nothing, called nothing, or is not drawn by a bandit."""

    name: str
    brought: Yield | None
    cost: CostLine | None
    next: float | None


def show_operators(request: Request) -> Response:
    """Answers with tables of operators and of models."""
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        tally, costs = report.tally(campaign), report.costs(campaign)
        weights = campaign.strategy.shares() if isinstance(campaign.strategy, WeighsOperators) else {}
        models = campaign.ensemble.shares()
        return render_page(
            request,
            "operators.html",
            operators=_join_rows(tally.operators, costs.operators if costs else (), weights),
            models=_join_rows(tally.models, costs.models if costs else (), models),
            purposes=costs.purposes if costs else (),
            failures=campaign.state.calls.failures(),
            strategy=campaign.settings.strategy.name,
            notes=tally.notes,
            lessons=report.lessons_learnt(campaign),
            left_out=report.left_out(campaign),
        )


def _join_rows(
    yields: Sequence[Yield], costs: Sequence[CostLine], weights: Mapping[str, float]
) -> tuple[YieldRow, ...]:
    brought, paid = {line.name: line for line in yields}, {line.name: line for line in costs}
    names = dict.fromkeys([*brought, *paid, *weights])
    return tuple(YieldRow(name, brought.get(name), paid.get(name), weights.get(name)) for name in names)


def show_failures(request: Request) -> Response:
    """Answers with the classes of a campaign's failures."""
    name, screened = request.path_params["name"], request.query_params.get("screened", "") == "1"
    with request.app.state.campaigns.campaign(name) as campaign:
        return render_page(
            request,
            "failures.html",
            classes=report.failures(campaign, screened=screened),
            looked_at=LOOKED_AT,
            screened=screened,
            link=lambda **changes: with_query(request.url.path, changes),
        )


@dataclass(frozen=True, slots=True)
class LessonLine:
    """A lesson, and when it was written, in seconds since 1970."""

    lesson: Lesson
    at: float

    @property
    def by_person(self) -> bool:
        """True for a hint."""
        return self.lesson.by == PERSON


def show_lessons(request: Request) -> Response:
    """Answers with the lessons and hints, the newest first, and with the hints that no run has read yet."""
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        letters = Inbox(campaign.log.path).letters()
        return render_page(
            request,
            "lessons.html",
            lines=_list_lessons(campaign),
            total=len(campaign.state.lessons),
            waiting=tuple(each.request.wish.text for each in letters if isinstance(each.request.wish, Hint)),
        )


def _list_lessons(campaign: Campaign) -> tuple[LessonLine, ...]:
    found = campaign.log.events(only=LessonWritten)
    newest = deque((one for one in found if one.number <= campaign.events), maxlen=_LESSONS)
    events = ((one.event, one.at) for one in reversed(newest))
    return tuple(LessonLine(event.lesson, at) for event, at in events if isinstance(event, LessonWritten))


ROUTES = (
    Route("/c/{name}/operators", show_operators),
    Route("/c/{name}/failures", show_failures),
    Route("/c/{name}/lessons", show_lessons),
)
