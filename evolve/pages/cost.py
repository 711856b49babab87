"""What a campaign has cost: time, programs, and what models took.

Invariant: what was estimated is not told as counted."""

from collections.abc import Iterator, Sequence

from evolve import wording
from evolve.pages.document import Block, Facts, Line, Paragraph, Section, Table
from evolve.pages.findings import Findings
from evolve.pages.numbers import money, share, time
from evolve.report import CostLine, Costs
from evolve.types import Fitness


def cost(found: Findings, fitness: Fitness) -> Section:
    """The chapter."""
    page = found.overview
    speed = f", {page.programs / page.seconds:,.3g} programs a second" if page.seconds >= 1.0 else ""
    rows: list[tuple[str, Line]] = [
        ("time", f"{time(page.seconds)} in which the campaign ran{speed}"),
        ("judged", f"{wording.counted(page.programs, 'program')}, {wording.counted(page.measurements, 'measurement')}"),
        ("judges", f"{time(found.judge_seconds)} in all, {share(found.measure_seconds, found.judge_seconds)} of it for measurements"),
        ("left", found.left),
    ]
    costs = page.costs
    return Section("cost", "What it cost", (Facts(tuple(rows)), *_models(costs, fitness)))


def _models(costs: Costs | None, fitness: Fitness) -> Iterator[Block]:
    if costs is None:
        yield Paragraph("No model was called: no tokens and no money.")
        return
    yield _table("model", costs.models, costs.total)
    yield _table("operator", costs.operators, None)
    yield _table("purpose", costs.purposes, None)
    line, found = costs.lineage, costs.improvements
    if line is not None and line.calls:
        yield Paragraph(
            f"The steps from the seed to the best program took {wording.counted(line.calls, 'call')}, {line.tokens:,} tokens and {money(line.money)}."
        )
    if found.tokens is None or found.money is None:
        yield Paragraph("No program that a model wrote was the best so far when it was judged.")
    else:
        gained = f", by {found.gained:.4g} of {fitness.name} together" if found.gained else ""
        yield Paragraph(
            f"A model's program was the best so far {wording.counted(found.count, 'time')}{gained}; all calls cost {found.tokens:,.0f} tokens and {money(found.money)} for each."
        )


def _table(label: str, lines: Sequence[CostLine], total: CostLine | None) -> Table:
    shown = [*lines, *([total] if total and len(lines) > 1 else [])]
    rows = [
        (
            line.name or "before any step",
            f"{line.calls:,}",
            f"{line.failed:,}",
            f"{line.prompt_tokens:,}",
            f"{line.cached_tokens:,}",
            f"{line.completion_tokens:,}",
            money(line.money),
            time(line.seconds),
            f"{line.exact:.0%}",
        )
        for line in shown
    ]
    headings = (label, "calls", "failed", "tokens in", "of them cached", "tokens out", "money", "time", "counted exactly")
    return Table(headings, tuple(rows), frozenset(range(1, 9)))
