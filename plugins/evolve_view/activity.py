"""Pages of a campaign's activity: operators and models, failures, lessons and hints."""

import secrets
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evolve import report
from evolve.campaign import Campaign
from evolve.campaign.inbox import PERSON, Hint, Inbox
from evolve.campaign.inbox import Request as InboxRequest
from evolve.report import LOOKED_AT, CostLine, Slice, Yield
from evolve.types import ConfigError, Lesson, LessonWritten
from evolve_view.charts import Series
from evolve_view.documents import ChartFigure
from evolve_view.requests import query_choice, read_form, render_page, root, with_query

DRAWN = 8
"""Lines of a chart: as many as there are colours."""
HINT_CHARACTERS = 4_000
_LESSONS = 300
"""Lessons on the page, the newest."""
_SHOWN = {"better": "% better than their parents", "judged": "programs judged"}


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
    """Answers with tables and charts of operators and of models; the charts show what the query's `shows` names."""
    shows = query_choice(request, "shows", tuple(_SHOWN))
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        tally, costs, slices = (
            report.Tally.of(campaign.state.history),
            report.costs(campaign),
            report.slices(campaign),
        )
        weights = campaign.strategy.shares() if isinstance(campaign.strategy, WeighsOperators) else {}
        models = campaign.ensemble.shares()
        return render_page(
            request,
            "operators.html",
            operators=_join_rows(tally.yields(), costs.operators if costs else (), weights),
            models=_join_rows(tally.model_yields(), costs.models if costs else (), models),
            purposes=costs.purposes if costs else (),
            failures=campaign.state.calls.failures(),
            strategy=campaign.settings.strategy.name,
            reflections=tally.reflections,
            lessons=report.lessons_learnt(campaign),
            left_out=report.left_out(campaign),
            shows=shows,
            operators_chart=draw_yields(slices, [one.operators for one in slices], shows),
            models_chart=draw_yields(slices, [one.models for one in slices], shows),
        )


def _join_rows(
    yields: Sequence[Yield], costs: Sequence[CostLine], weights: Mapping[str, float]
) -> tuple[YieldRow, ...]:
    brought, paid = {line.name: line for line in yields}, {line.name: line for line in costs}
    names = dict.fromkeys([*brought, *paid, *weights])
    return tuple(YieldRow(name, brought.get(name), paid.get(name), weights.get(name)) for name in names)


def draw_yields(slices: Sequence[Slice], yields: Sequence[Sequence[Yield]], shows: str) -> ChartFigure:
    """Draws the yields of each slice, a line for each of the busiest names."""
    found = [{brought.name: brought for brought in each} for each in yields]
    busy = Counter[str]()
    for named in found:
        busy.update({name: brought.judged for name, brought in named.items()})
    chosen = sorted(sorted(busy), key=lambda name: -busy[name])[:DRAWN]
    ends = [float(one.last) for one in slices]
    series = (Series(name, ends, [_value(named.get(name), shows) for named in found]) for name in chosen)
    return ChartFigure(tuple(series), "records", _SHOWN[shows])


def _value(brought: Yield | None, shows: str) -> float | None:
    # A share of nothing is none.
    if shows == "judged":
        return float(brought.judged) if brought else 0.0
    return 100.0 * brought.share if brought and brought.judged else None


def show_failures(request: Request) -> Response:
    """Answers with the classes of a campaign's failures, and when they happened."""
    name, screened = request.path_params["name"], request.query_params.get("screened", "") == "1"
    with request.app.state.campaigns.campaign(name) as campaign:
        return render_page(
            request,
            "failures.html",
            classes=report.failures(campaign, screened=screened),
            over_time=report.failures_over_time(campaign, screened=screened),
            records=len(campaign.state.history),
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
    """Answers with what was learnt, the newest first; where that was allowed, with a form for a hint."""
    with request.app.state.campaigns.campaign(request.path_params["name"]) as campaign:
        letters = Inbox(campaign.log.path).letters()
        return render_page(
            request,
            "lessons.html",
            lines=_list_lessons(campaign),
            total=len(campaign.state.lessons),
            waiting=tuple(each.request.wish.text for each in letters if isinstance(each.request.wish, Hint)),
            longest=HINT_CHARACTERS,
        )


def _list_lessons(campaign: Campaign) -> tuple[LessonLine, ...]:
    found = campaign.log.events(only=LessonWritten)
    newest = deque((one for one in found if one.number <= campaign.events), maxlen=_LESSONS)
    events = ((one.event, one.at) for one in reversed(newest))
    return tuple(LessonLine(event.lesson, at) for event, at in events if isinstance(event, LessonWritten))


async def add_hint(request: Request) -> Response:
    """Puts a hint into the campaign's inbox, from which whoever writes the log takes it; raises `ConfigError` for an empty or too long one."""
    name = request.path_params["name"]
    text = (await read_form(request)).get("text", "").strip()
    if not text or len(text) > HINT_CHARACTERS:
        raise ConfigError(
            f"a hint has 1 to {HINT_CHARACTERS:,} characters, got {len(text):,}. Do: go back, and write another"
        )
    letter = InboxRequest(secrets.token_hex(16), Hint(text))
    await run_in_threadpool(Inbox(request.app.state.campaigns.path(name)).put, letter, time.time())
    return RedirectResponse(f"{root(name)}/lessons", 303)


ROUTES = (
    Route("/c/{name}/operators", show_operators),
    Route("/c/{name}/failures", show_failures),
    Route("/c/{name}/lessons", show_lessons, methods=["GET"]),
    Route("/c/{name}/lessons", add_hint, methods=["POST"]),
)
