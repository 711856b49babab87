"""What a campaign found: the best program against the seed and the anchors, what its score rests on, and the program itself.

Invariant: a gain that does not hold elsewhere is told beside the gain."""

from collections.abc import Iterator

from evolve import wording
from evolve.campaign import Campaign
from evolve.drawing import Series
from evolve.pages.document import Block, Chart, Facts, Line, Mono, Paragraph, Section, Table, Tone
from evolve.pages.document import Picture as PictureBlock
from evolve.pages.findings import Findings, Picture
from evolve.pages.listing import Notes, listing
from evolve.pages.numbers import signed
from evolve.report import AnchorGap, Best, EliteLine, Shown
from evolve.report.held_out import Kept, KeptLine
from evolve.types import FROM_SCRATCH, Fitness, Task


def found_section(campaign: Campaign, found: Findings, picture: Picture, notes: Notes) -> Section:
    """The chapter."""
    return Section("found", "What was found", tuple(_blocks(campaign, found, picture, notes)))


def _blocks(campaign: Campaign, found: Findings, picture: Picture, notes: Notes) -> Iterator[Block]:
    best, task = found.overview.best, campaign.task
    if best is None:
        none = "No program holds the first place."
        missed = found.overview.closest
        yield Paragraph(none if missed is None else wording.closest(missed).replace("\n", "; ") + ".")
        yield from _front(found, task)
        return
    yield Facts(tuple(_facts(found, best, task)))
    yield from _anchors(best.anchors, task.fitness)
    yield from _held_out(found, best, task)
    yield from _picture(picture, best)
    yield from _front(found, task)
    if found.evidence is not None:
        yield from _evidence(found.evidence)
        yield Paragraph(("The program ", Mono(best.name), ":"))
        yield from listing(found.evidence.files, notes)


def _facts(found: Findings, best: Best, task: Task) -> Iterator[tuple[str, Line]]:
    fitness = task.fitness
    yield "best program", (Mono(best.name), f" ({best.program[:16]})")
    yield "score", wording.score(best, fitness)
    if best.seed is not None:
        yield "seed", wording.number(best.seed, fitness)
    yield "rests on", _measured(found, best, task)
    if best.ratio is not None:
        yield "ratio to the seed", wording.ratio(best.ratio).replace("\n", "; ")
    if best.objectives:
        yield "objectives", ", ".join(map(wording.objective, best.objectives))
    yield "certified", f"yes, by record {found.certificate}" if best.certified else _uncertified(task)
    promoted = wording.promotion(task, certified=best.certified, better=best.improved, promoted=best.promoted)
    yield "promoted", promoted
    yield "trust", _TRUST[best.trust]
    yield "isolation", best.isolation or "unknown"


_TRUST = {
    "witnessed": "witnessed: the judge has computed the score from what it saw the program do",
    "rescored": "rescored: the judge has computed the score from files that the program saved",
    "claimed": "claimed: the program itself has computed the score",
}


def _measured(found: Findings, best: Best, task: Task) -> str:
    times = wording.counted(best.measurements, "measurement")
    if task.deterministic or best.certified:
        return times
    error = f", standard error {best.standard_error:.2g}" if best.standard_error else ", standard error not known"
    since = "made after it won" if found.confirmed else "that made it win, so that luck is part of it"
    return f"{times} {since}{error}"


def _uncertified(task: Task) -> str:
    if task.promotion == "certificate":
        return "no: the campaign ended before the task proved this value"
    return "no: this task has no certificates"


def _anchors(gaps: tuple[AnchorGap, ...], fitness: Fitness) -> Iterator[Block]:
    if not gaps:
        return
    rows = [
        (
            f"{gap.by} {gap.year or ''}".strip(),
            Mono(f"{gap.value:.12g}"),
            Mono(signed(gap.difference, fitness.digits)),
            "yes" if gap.reached else "no",
            gap.source,
        )
        for gap in gaps
    ]
    headings = ("anchor", "value", "best minus anchor", "reached", "source")
    yield Table(headings, tuple(rows), frozenset({1, 2}))


def _held_out(found: Findings, best: Best, task: Task) -> Iterator[Block]:
    fitness = task.fitness
    if found.kept is not None:
        rows = [
            (
                line.case.case,
                Mono(line.case.name),
                Mono(wording.number(line.case.seed, fitness)),
                Mono(line.case.outcome if line.case.fitness is None else wording.number(line.case.fitness, fitness)),
                Mono(signed(line.gain, fitness.digits)),
                "-" if line.share is None else wording.share(line.share),
                _to_the_seed(line),
            )
            for line in found.kept.lines
        ]
        headings = ("held-out case", "record", "seed", "best program", "gain", "of the search's gain", "than the seed")
        yield Paragraph(_verdict(found.kept, best), _tone(found.kept, best))
        if rows:
            yield Table(headings, tuple(rows), frozenset({2, 3, 4, 5}))
            yield Paragraph(
                "Gains are compared in units of the seed's value in each case, unless that is 0 or the fitness is a logarithm."
            )
    for line in best.cases:
        if line.case == FROM_SCRATCH:
            yield Paragraph(f"From scratch: {wording.from_scratch(line, fitness)}.")


def _to_the_seed(line: KeptLine) -> str:
    """What promotion asks: within the noise a worse value is no worse."""
    if not line.case.agrees:
        return "worse"
    return "equal" if line.gain == 0.0 else "better" if (line.share or 0.0) > 0.0 else "no worse"


def _tone(kept: Kept, best: Best) -> Tone:
    return "good" if best.promoted and kept.verdict == "holds" else "bad"


def _verdict(kept: Kept, best: Best) -> str:
    promoted = "The program is promoted" if best.promoted else "The program is not promoted"
    if not best.improved:
        return "There is nothing to promote: the seed is the best."
    worse = sum(not line.case.agrees for line in kept.lines)
    why = f"on {worse} of {wording.counted(kept.wanted, 'case')} it is worse than the seed; " if worse else ""
    return f"{promoted}: {why}{wording.kept_on_average(kept)}."


def _picture(picture: Picture, best: Best) -> Iterator[Block]:
    told = ("The picture that the task draws of ", Mono(best.name), ".")
    if picture.svg:
        command = Mono(f"evolve program show {best.name} --draw picture.svg")
        yield PictureBlock(picture.svg, told, ("The task draws a picture of this result: ", command, "."))
    elif picture.why:
        yield Paragraph(f"There is no picture of the result: {picture.why}")


def _front(found: Findings, task: Task) -> Iterator[Block]:
    front = found.overview.front
    if front is None:
        return
    yield Paragraph(f"The Pareto front: {wording.front(front)}.")
    if not found.front:
        return
    table = _front_table(found.front[:_LISTED], front.members, task)
    if len(task.objectives) == 2:
        yield _front_chart(found.front, table, more=front.members > len(found.front))
    yield table


def _front_table(lines: tuple[EliteLine, ...], members: int, task: Task) -> Table:
    names = tuple(each.name for each in task.objectives)
    fitness = [] if task.fitness.name in names else [task.fitness.name]
    rows: list[tuple[Line, ...]] = [
        (
            Mono(line.name),
            *(Mono(value) for value in wording.objective_columns(line.objectives)),
            *(Mono(wording.number(line.fitness, task.fitness)) for _ in fitness),
            "certified" if line.certified else f"{line.measurements} measured",
            f"{line.trust}, {wording.level(line.isolation, weaker=line.weaker)}",
        )
        for line in lines
    ]
    more = members - len(lines)
    first = f"on the front (the first {len(lines)} of {members})" if more > 0 else "on the front"
    headings = (first, *names, *fitness, "evidence", "basis")
    return Table(headings, tuple(rows), frozenset(range(1, 1 + len(names) + len(fitness))))


def _front_chart(lines: tuple[EliteLine, ...], table: Table, *, more: bool) -> Chart:
    """The first objective against the second."""
    points = sorted((line.objectives[0].value, line.objectives[1].value) for line in lines)
    x, y = lines[0].objectives
    series = Series("front", [point[0] for point in points], [point[1] for point in points])
    first = f" (its first {len(lines)} programs)" if more else ""
    caption = f"The front{first}: {y.name} ({y.direction}) against {x.name} ({x.direction})."
    return Chart((series,), f"{x.name} ({x.direction})", f"{y.name} ({y.direction})", caption, table, tabled=False)


_NUMBERS = 40
_LISTED = 20
"""Programs of the front that are told one by one."""


def _evidence(shown: Shown) -> Iterator[Block]:
    """What the judge has noted beside the score."""
    rows = [(name, Mono(f"{value:.6g}")) for name, value in {**shown.descriptors, **shown.metrics}.items()]
    if rows:
        more = f" (the first {_NUMBERS} of {len(rows):,})" if len(rows) > _NUMBERS else ""
        yield Paragraph(f"What the judge has noted of it{more}:")
        yield Table(("descriptor or metric", "value"), tuple(rows[:_NUMBERS]), frozenset({1}))
