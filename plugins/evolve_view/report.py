"""Report of a campaign: one HTML file that needs no network, read by somebody who was not there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from markupsafe import Markup

import evolve
from evolve import report
from evolve.campaign import Campaign, best_confirmed
from evolve.report import LOOKED_AT, Best, EliteLine, FitnessLimits, Kept, LineageStep, Shown
from evolve.types import FROM_SCRATCH, MachineMeasured, Record, RecordId, Ruled
from evolve_view.caveats import list_caveats
from evolve_view.charts import ChartFigure, Series
from evolve_view.code import CodeFile, FileChange, compare_files, show_file
from evolve_view.figures import draw_curve
from evolve_view.rendering import read_style, render

MARK = "<!-- evolve report -->"
"""Stands in the second line of every report, by which a file is known to be one."""
_FILE_LINES = 1_500
"""Lines of a program's file."""
_CHANGED_LINES = 300
_FRONT = 200
"""Programs of the front that are drawn."""
_RULED = 50
_STEPS, _LAST = 24, 4
"""Steps of a lineage that are shown in detail, and how many of these are the last ones, whatever they gained."""
_CHAPTERS = {
    "task": "What was asked",
    "found": "What was found",
    "course": "How it came about",
    "failed": "What did not work",
    "cost": "What it cost",
    "environment": "Where and with what",
    "verify": "How to verify",
    "uncertain": "What is uncertain",
}


@dataclass(frozen=True, slots=True)
class TaskPicture:
    """Picture that a task draws; without an `svg`, `why` there is none."""

    svg: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class ReportStep:
    """Step of a lineage with the record that made its program; `changes` to the first parent where the step is `detailed`."""

    line: LineageStep
    record: Record
    detailed: bool
    changes: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class BestEvidence:
    """Evidence of the best program in a report. `notes` are, by file, the records that wrote its lines."""

    shown: Shown
    limits: FitnessLimits | None
    kept: Kept | None
    files: tuple[CodeFile, ...]
    notes: Mapping[str, list[int]]
    steps: tuple[ReportStep, ...]


def render_report(campaign: Campaign, now: datetime, picture: TaskPicture) -> str:
    """Returns the report of a campaign, which may go on meanwhile, as the text of an HTML file; `now` in UTC."""
    seen, task, points = report.overview(campaign), campaign.task, report.curve(campaign)
    front = report.front(campaign, _FRONT) if task.objectives else ()
    return render(
        "report.html",
        mark=Markup(MARK),
        style=read_style("site.css", "document.css"),
        chapters=_CHAPTERS,
        written_at=now.strftime("%Y-%m-%d %H:%M UTC"),
        evolve=evolve.__version__,
        seen=seen,
        task=task,
        fitness=task.fitness,
        settings=campaign.settings,
        operators=campaign.operator_names,
        budget=str(campaign.budget) if campaign.settings.budget else "",
        left=report.budget_left(campaign, now.timestamp()),
        writer=report.writer(campaign.log.path),
        log_name=campaign.log.path.name,
        confirmed=best_confirmed(campaign) is not None,
        caveats=list_caveats(campaign, seen),
        evidence=_read_best(campaign, seen.best) if seen.best else None,
        curve=draw_curve(points, seen.best, task, campaign.budget) if points else None,
        front=front,
        front_chart=_draw_front(front) if front and len(task.objectives) == 2 else None,
        failures=report.failures(campaign, screened=True),
        looked_at=LOOKED_AT,
        rulings=_read_rulings(campaign),
        machines=_read_machines(campaign),
        versions=report.versions(campaign),
        changed=report.find_changed_settings(seen.settings),
        picture=picture,
        from_scratch=FROM_SCRATCH,
        changed_lines=_CHANGED_LINES,
    )


def _read_best(campaign: Campaign, best: Best) -> BestEvidence:
    held_out, shown = campaign.state.cases.held_out, report.whole(campaign, best.record)
    return BestEvidence(
        shown=shown,
        limits=report.limits(best),
        kept=report.kept(best, held_out, campaign.task.fitness) if held_out else None,
        files=tuple(show_file(path, text, most=_FILE_LINES) for path, text in shown.files.items()),
        notes=_read_notes(campaign, best.record),
        steps=read_steps(campaign, best.record),
    )


def _draw_front(lines: tuple[EliteLine, ...]) -> ChartFigure:
    points = sorted((line.objectives[0].value, line.objectives[1].value) for line in lines)
    x, y = (f"{each.name} ({each.direction})" for each in lines[0].objectives)
    return ChartFigure((Series("front", [point[0] for point in points], [point[1] for point in points]),), x, y)


def _read_notes(campaign: Campaign, record: RecordId) -> Mapping[str, list[int]]:
    """Returns, by file, the record that wrote each line; nothing where one record wrote all of them."""
    notes: dict[str, list[int]] = {}
    lines = report.blame(campaign, record)
    if len({line.record for line in lines}) > 1:
        for line in lines:
            notes.setdefault(line.path, []).append(line.record)
    return notes


def read_steps(campaign: Campaign, record: RecordId) -> tuple[ReportStep, ...]:
    """Returns the line of first parents from the seed to a program. Of a long line the steps that changed the fitness most, and the last ones, are
    detailed."""
    line = report.lineage(campaign, record)
    detailed = [step for step in line if step.parents]
    if len(detailed) > _STEPS:
        most = sorted(detailed[:-_LAST], key=lambda step: -abs(step.change or 0.0))[: _STEPS - _LAST]
        detailed = [*most, *detailed[-_LAST:]]
    return tuple(_read_step(campaign, step, detailed=step in detailed) for step in line)


def _read_step(campaign: Campaign, step: LineageStep, *, detailed: bool) -> ReportStep:
    record = campaign.log.settled(step.record).record
    made = campaign.log.settled(record.origin.about).record if record.origin.about else record
    changes: tuple[FileChange, ...] = ()
    if detailed:
        before, after = (report.program_of(campaign, one).files for one in (step.parents[0], step.record))
        changes = compare_files(before, after)
    return ReportStep(step, made, detailed, changes)


def _read_rulings(campaign: Campaign) -> list[tuple[RecordId, Ruled]]:
    first = campaign.state.columns.first_records()
    ruled = islice(campaign.state.quarantined.items(), _RULED)
    return [(first[program], ruling) for program, ruling in ruled if program in first]


def _read_machines(campaign: Campaign) -> list[MachineMeasured]:
    """Returns each machine once, in the order in which the campaign came to them."""
    events = (stamped.event for stamped in campaign.log.events(only=MachineMeasured))
    machines = (one for one in events if isinstance(one, MachineMeasured))
    return list({(one.hardware, one.isolation): one for one in machines}.values())
