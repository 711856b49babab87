"""What a campaign has cost: time, programs, and what models took.

Invariant: what was estimated is not told as counted."""

from collections.abc import Iterator, Sequence

from evolve import wording
from evolve.pages.document import Block, Facts, Line, Paragraph, Section, Table
from evolve.pages.findings import Findings
from evolve.pages.numbers import money, time
from evolve.report import CostLine, Costs
from evolve.types import Fitness


def cost(found: Findings, fitness: Fitness) -> Section:
    """The chapter."""
    page = found.overview
    speed = f", {page.programs / page.seconds:,.3g} programs a second" if page.seconds >= 1.0 else ""
    rows: list[tuple[str, Line]] = [
        ("time", f"{time(page.seconds)} in which the campaign ran{speed}"),
        ("judged", f"{wording.counted(page.programs, 'program')}, {wording.counted(page.measurements, 'measurement')}"),
        (
            "judges",
            f"{time(found.judge_seconds)} in all, {wording.share(found.measure_seconds, found.judge_seconds)} of it for measurements",
        ),
        ("left of the budget", found.left),
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
            f"The steps from the seed to the best program took {wording.counted(line.calls, 'call')}, {_taken(line.tokens, line.money)}."
        )
    if found.tokens is None or found.money is None:
        yield Paragraph("No program that a model wrote was the best so far when it was judged.")
    else:
        gained = f", by {found.gained:.4g} of {fitness.name} together" if found.gained else ""
        yield Paragraph(
            f"A model's program was the best so far {wording.counted(found.count, 'time')}{gained}; all calls cost {_taken(found.tokens, found.money)} for each."
        )


def _taken(tokens: float, paid: float) -> str:
    return f"{tokens:,.0f} tokens" + (f" and {money(paid)}" if paid else "")


def _table(label: str, lines: Sequence[CostLine], total: CostLine | None) -> Table:
    """A column without a number is left out."""
    shown = [*lines, *([total] if total and len(lines) > 1 else [])]
    columns: list[tuple[str, list[str]]] = [
        (label, [line.name or "before any step" for line in shown]),
        ("calls", [f"{line.calls:,}" for line in shown]),
        ("failed", [f"{line.failed:,}" for line in shown]),
        ("tokens in", [f"{line.prompt_tokens:,}" for line in shown]),
        ("of them cached", [f"{line.cached_tokens:,}" if line.cached_tokens else "" for line in shown]),
        ("tokens out", [f"{line.completion_tokens:,}" for line in shown]),
        ("money", [money(line.money) if line.money else "" for line in shown]),
        ("own GPUs", [time(line.gpu_seconds) if line.gpu_seconds else "" for line in shown]),
        ("time", [time(line.seconds) for line in shown]),
        ("counted exactly", [wording.share(line.exact) for line in shown]),
    ]
    kept = [(heading, cells) for heading, cells in columns if any(cells)]
    rows = zip(*(cells for _, cells in kept), strict=True)
    return Table(tuple(heading for heading, _ in kept), tuple(rows), frozenset(range(1, len(kept))))
