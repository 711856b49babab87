"""How a campaign came to its best program: the best so far as it went on, and the winner's line step by step.

Invariant: a curve is told with what it leaves out, which is luck where the task is noisy."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evolve import wording
from evolve.campaign import Campaign
from evolve.drawing import Level, Series, outside
from evolve.pages.authors import authors
from evolve.pages.document import (
    Block,
    Change,
    Chart,
    Folded,
    Line,
    Mono,
    Paragraph,
    Row,
    Section,
    Table,
    Words,
)
from evolve.pages.findings import Findings
from evolve.pages.numbers import signed, time
from evolve.pages.progress import Step
from evolve.report import Point
from evolve.types import Fitness, Task

_ROWS = 20
"""Points in a table, and steps."""
_LISTED = 60
"""A longer line is not listed as a whole."""
_EARLY = 0.1
_HALF = 0.5
_NEAR = 0.05
"""A curve's end is drawn once more where so little of its height has several points."""


def course(campaign: Campaign, found: Findings) -> Section:
    """The chapter."""
    return Section("course", "How it came about", tuple(_blocks(campaign, found)))


def glance(found: Findings, task: Task) -> tuple[Block, ...]:
    """The best so far with the seed, for whoever reads no further; nothing where the seed is the best."""
    best = found.overview.best
    if best is None or not best.improved:
        return ()
    whole = _chart(found.curve, found, task)
    seed = tuple(level for level in whole.levels if level.value == best.seed)[-1:]
    return (replace(whole, caption="", levels=seed, log_x=False, size="low", tabled=False),)


def _blocks(campaign: Campaign, found: Findings) -> Iterator[Block]:
    points, task = found.curve, campaign.task
    if not points:
        meets = " that meets the constraints" if task.constraints else ""
        yield Paragraph(f"No program{meets} has a score yet.")
        return
    yield _chart(points, found, task)
    yield from _detail(points, found, task)
    yield from _others(points, task)
    yield from _line(found, task)
    yield from authors(found.blame, found.overview.name, task.fitness)


def _chart(points: Sequence[Point], found: Findings, task: Task) -> Chart:
    places = [point.programs for point in points]
    early = places[-1] > 200 and places[len(places) // 2] < _EARLY * places[-1]
    better = len(points) - 1
    told = f"The best {task.fitness.name} so far against judged programs{' (on a logarithmic scale)' if early else ''}; it got better {wording.counted(better - 1, 'time')}."
    if better > _ROWS:
        told += f" The table has the last {_ROWS} of {better} points."
    if not task.deterministic:
        told += " Each point is what one judging found, and the task is noisy: the luckiest of many stand here."
        told += " What is reported of the best rests on measurements made after it won." if found.confirmed else ""
    series = _series(points, [float(place) for place in places])
    return Chart(
        (series,), "programs", task.fitness.name, told, _table(points, task.fitness), _levels(found, task), early
    )


def _series(points: Sequence[Point], places: Sequence[float]) -> Series:
    return Series("best so far", tuple(places), tuple(point.fitness for point in points), step=True)


def _levels(found: Findings, task: Task) -> tuple[Level, ...]:
    """The seed and the anchors."""
    best = found.overview.best
    levels = [
        Level(each.value, f"{each.by} {each.year or ''}".rstrip() + f": {each.value:.8g}") for each in task.anchors
    ]
    if best is not None and best.seed is not None:
        levels.append(Level(best.seed, f"seed: {wording.number(best.seed, task.fitness)}"))
    if task.bound is not None:
        levels.append(Level(task.bound, f"proven limit: {task.bound:.8g}"))
    return tuple(levels)


def _table(points: Sequence[Point], fitness: Fitness) -> Table:
    """The last points but the one for now."""
    shown = points[:-1][-_ROWS:]
    rows = [
        (
            str(point.record),
            f"{point.programs:,}",
            time(point.seconds),
            Mono(wording.number(point.fitness, fitness)),
            "yes" if point.confirmed else "no",
            f"{point.trust}, {wording.level(point.isolation)}",
        )
        for point in shown
    ]
    return Table(
        ("record", "programs", "after", fitness.name, "confirmed", "basis"), tuple(rows), frozenset({0, 1, 2, 3})
    )


def _detail(points: Sequence[Point], found: Findings, task: Task) -> Iterator[Block]:
    """The end of the curve once more, where most of its height was won early."""
    height = abs(points[-1].fitness - points[0].fitness)
    late = [point for point in points if abs(points[-1].fitness - point.fitness) <= _NEAR * height]
    if height == 0.0 or len(late) < 5 or late[0].programs > _HALF * points[-1].programs:
        return
    series = _series(late, [float(point.programs) for point in late])
    told = f"The same from program {late[0].programs:,} on, where {1 - _NEAR:.0%} of the gain had been made."
    heights = [point.fitness for point in late]
    near = tuple(each for each in _levels(found, task) if not outside(each.value, heights))
    yield Chart((series,), "programs", task.fitness.name, told, _table(late, task.fitness), near, tabled=False)


def _others(points: Sequence[Point], task: Task) -> Iterator[Block]:
    """Against time, and against what models took."""
    last = points[-1]
    axes: list[tuple[str, list[float]]] = [("seconds", [point.seconds for point in points])]
    if last.calls:
        axes.append(("calls of models", [float(point.calls) for point in points]))
        axes.append(("tokens", [float(point.tokens) for point in points]))
    if last.money:
        axes.append(("usd", [point.money for point in points]))
    table = Table((), ())
    yield Row(
        tuple(
            Chart((_series(points, places),), name, task.fitness.name, "", table, size="small", tabled=False)
            for name, places in axes
        )
    )


def _line(found: Findings, task: Task) -> Iterator[Block]:
    line, name = found.lineage, found.overview.name
    made = [step for step in line if step.line.parents]
    if not made:
        yield Paragraph("The best program is the seed: nothing led to it.")
        return
    told = [step for step in made if step.told]
    yield Paragraph(
        f"From {line[0].line.name} to the best program it took {wording.counted(len(made), 'step')}, along first parents."
        + (
            f" The {len(told)} that changed the score most, and the last ones, are told."
            if len(told) < len(made)
            else ""
        )
    )
    yield _steps(line if len(line) <= _LISTED else (line[0], *told), task.fitness)
    gains = [abs(step.line.change or 0.0) for step in told]
    widest = told[gains.index(max(gains))]
    for step in told:
        yield _step(step, name, task.fitness, unfolded=step is widest)


def _steps(line: Sequence[Step], fitness: Fitness) -> Table:
    rows = [
        (
            Mono(step.line.name),
            _maker(step),
            Mono(wording.number(step.line.fitness, fitness) if step.line.fitness is not None else step.line.outcome),
            Mono(signed(step.line.change, fitness.digits)),
            f"{step.line.trust}, {wording.level(step.line.isolation, weaker=step.line.weaker)}",
        )
        for step in line
    ]
    return Table(("program", "made by", fitness.name, "change", "basis"), tuple(rows), frozenset({2, 3}))


def _maker(step: Step) -> str:
    return (step.line.operator or step.line.kind) + (f", {step.model}" if step.model else "")


def _step(step: Step, name: str, fitness: Fitness, *, unfolded: bool) -> Folded:
    change = f": {signed(step.line.change, fitness.digits)}" if step.line.change is not None else ""
    summary: Line = (Mono(step.line.name), f" by {_maker(step)}{change}")
    blocks: list[Block] = [Words(step.thought, prose=True)] if step.thought else []
    if step.others:
        blocks.append(Paragraph(f"Further parents: {', '.join(step.others)}."))
    if step.model:
        blocks.append(Paragraph(("Prompt and answer: ", Mono(f"evolve model calls {name} --step {step.step}"))))
    blocks += [Change(each.path, each.text) for each in step.differences]
    if not step.differences:
        blocks.append(Paragraph("It has the same text as its parent."))
    return Folded(summary, tuple(blocks), unfolded)
