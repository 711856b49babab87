"""The report of a campaign as a document: what was asked, what was found, how it came about, what did not work, what it cost, where it ran, how to
verify it, and what is uncertain."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evolve import wording
from evolve.campaign import Campaign
from evolve.report import (
    LOOKED_AT,
    AnchorGap,
    Best,
    BlameLine,
    CostLine,
    Costs,
    EliteLine,
    FailureClass,
    Kept,
    KeptLine,
    Point,
    Shown,
    Yield,
)
from evolve.types import FROM_SCRATCH, Constraint, Fitness, Lesson, Outcome, Stage, Task
from evolve_view.charts import Series, is_far
from evolve_view.code import show_file
from evolve_view.documents import (
    Block,
    Bullets,
    Chapter,
    ChartFigure,
    ChartRow,
    CodeChange,
    CodeListing,
    CommandList,
    Document,
    Facts,
    Folded,
    ImageFigure,
    Line,
    Mono,
    Paragraph,
    TableBlock,
    Tone,
    Words,
)
from evolve_view.figures import AXES, curve_series, reference_lines
from evolve_view.findings import Findings, TaskPicture, ToldStep
from evolve_view.verdicts import format_signed, format_time, list_doubts, summarize

PERSON = "person"
_CURVE = "best so far"
TRUST = {
    "witnessed": "the judge has computed the score from what it saw the program do",
    "rescored": "the judge has computed the score from files that the program saved",
    "claimed": "the program itself has computed the score",
}
_SHORT_BRIEF = 1_200
"""Characters of a brief that is not folded."""
_FRONT, _NUMBERS, _POINTS, _STEPS, _AUTHORS = 20, 40, 20, 60, 25
"""Rows of the tables of the front, of metrics, of the curve, of steps, and of authors."""
_CLASSES, _LESSONS, _EXAMPLES = 15, 40, 3
_VALUE = 300
"""Characters of a setting."""
_EARLY, _HALF, _NEAR = 0.1, 0.5, 0.05
"""Shares of a curve: it is logarithmic where half of its points are so early, and its end is drawn once more where so little of its height has several
points in its second half."""


def write_report(campaign: Campaign, found: Findings, picture: TaskPicture) -> Document:
    """Returns the report of a campaign."""
    task, moment = campaign.task, found.moment
    chapters = (
        ("asked", "What was asked", _tell_task(campaign)),
        ("found", "What was found", _tell_best(found, task, picture)),
        ("course", "How it came about", _course(found, task)),
        ("failed", "What did not work", _tell_failures(found)),
        ("cost", "What it cost", _cost(found, task.fitness)),
        ("environment", "Where and with what", _environment(campaign, found)),
        ("verify", "How to verify", _verify(found)),
        ("uncertain", "What is uncertain", [Bullets(tuple(list_doubts(campaign, found)))]),
    )
    return Document(
        title=f"Campaign {campaign.name}",
        about=("A report on the task ", Mono(task.name), f", made {moment.told} by evolve {moment.version}."),
        summary=(*summarize(found, task), *_glance(found, task)),
        chapters=tuple(Chapter(anchor, title, tuple(blocks)) for anchor, title, blocks in chapters),
    )


# What was asked


def _tell_task(campaign: Campaign) -> Iterator[Block]:
    task, settings, files = campaign.task, campaign.settings, campaign.task.seed.files
    brief = Words(task.brief.strip(), prose=True)
    long = len(brief.text) > _SHORT_BRIEF
    yield Folded("The brief, as models read it", (brief,)) if long else brief
    evaluator = task.evaluator
    judge: Line = ("the task's ", Mono(evaluator.path or "evaluator"))
    if evaluator.plugin:
        judge = ("the evaluator ", Mono(evaluator.plugin), ", with the settings of the task")
    lines = sum(text.count("\n") + 1 for text in files.values())
    rows: list[tuple[str, Line]] = [
        ("task", (Mono(task.name), f", version {task.version[:16]}")),
        ("a score is", _explain_score(task)),
        ("judged by", judge),
        ("budget", str(campaign.budget) if settings.budget else "none: a person ends it"),
        ("strategy", (Mono(settings.strategy.name), f", seed {settings.seed}")),
        ("operators", ", ".join(campaign.operator_names)),
        ("models", ", ".join(f"{each.name} ({each.kind})" for each in settings.models.members) or "none"),
        ("seed program", f"{', '.join(files)} ({wording.counted(lines, 'line')})"),
    ]
    if campaign.forked_from:
        rows.append(("forked from", f"{campaign.forked_from}, whose records it began with"))
    if task.parameters:
        rows.append(("parameters", ", ".join(f"{key} = {value}" for key, value in task.parameters.items())))
    yield Facts(tuple(rows))
    yield from _aims(task)
    if len(task.stages) > 1:
        stages = tuple((stage.name, f"{stage.limit:g} s", _format_threshold(stage)) for stage in task.stages)
        yield TableBlock(("stage", "time limit", "goes on"), stages, frozenset({1}))


def _explain_score(task: Task) -> str:
    fitness = task.fitness
    better = "larger is better" if fitness.direction == "max" else "smaller is better"
    told = f"{fitness.name}: {better}"
    if fitness.log_ratio:
        told += "; it is the logarithm of a ratio to the seed, so that the seed has 0"
    if task.bound is not None:
        told += f"; {task.bound:g} is proven to be the limit, and what is beyond it is quarantined"
    if task.deterministic:
        return f"{told}. The task is deterministic: judged again, a program gets the same score"
    return f"{told}. The task is noisy: judged again, a program gets another score"


def _aims(task: Task) -> Iterator[Block]:
    lines: list[Line] = []
    if task.objectives:
        told = ", ".join(f"{each.name} ({each.direction})" for each in task.objectives)
        lines.append(f"Objectives beside it: {told}.")
    lines += [f"Constraint: {_format_constraint(each)}." for each in task.constraints]
    if task.promotion == "certificate":
        lines.append("A program is promoted by a certificate: its value is proven in exact arithmetic.")
    elif task.held_out:
        names = "; ".join(case.name for case in task.held_out)
        lines.append(f"Held out, which the search never sees and promotion asks about: {names}.")
    else:
        lines.append("No case is held out, so that no program can be promoted.")
    yield Bullets(tuple(lines))
    if task.anchors:
        rows = [
            (each.by, str(each.year or ""), Mono(f"{each.value:.12g}"), each.source)
            for each in sorted(task.anchors, key=lambda each: task.fitness.inside(each.value))
        ]
        yield TableBlock(("anchor", "year", task.fitness.name, "source"), tuple(rows), frozenset({2}))


def _format_constraint(each: Constraint) -> str:
    bounds = [f"at least {each.at_least:g}"] if each.at_least is not None else []
    bounds += [f"at most {each.at_most:g}"] if each.at_most is not None else []
    return f"{each.metric} must be {' and '.join(bounds)}"


def _format_threshold(stage: Stage) -> str:
    parts = [f"from {stage.threshold:g}"] if stage.threshold is not None else []
    parts += [f"the best {stage.top:.0%}"] if stage.top is not None else []
    return ", ".join(parts) or "every program that passes"


# What was found


def _tell_best(found: Findings, task: Task, picture: TaskPicture) -> Iterator[Block]:
    best = found.overview.best
    if best is None:
        missed = found.overview.closest
        none = "No program holds the first place."
        yield Paragraph(none if missed is None else wording.closest(missed).replace("\n", "; ") + ".")
        yield from _front(found, task)
        return
    yield Facts(tuple(_best_facts(found, best, task)))
    yield from _anchors(best.anchors, task.fitness)
    yield from _tell_cases(found, best, task)
    yield from _picture(picture, best)
    yield from _front(found, task)
    if found.evidence is not None:
        yield from _metrics(found.evidence)
        yield Paragraph(("The program ", Mono(best.name), ":"))
        yield from _listings(found.evidence.files, found.blame)


def _best_facts(found: Findings, best: Best, task: Task) -> Iterator[tuple[str, Line]]:
    fitness = task.fitness
    yield "best program", (Mono(best.name), f" ({best.program[:16]})")
    yield "score", wording.score(best, fitness)
    if best.seed is not None:
        yield "seed", wording.number(best.seed, fitness)
    yield "rests on", _explain_measurements(found, best, task)
    if best.ratio is not None:
        yield "ratio to the seed", wording.ratio(best.ratio).replace("\n", "; ")
    if best.objectives:
        yield "objectives", ", ".join(map(wording.objective, best.objectives))
    uncertified = (
        "no: the campaign ended before the task proved this value"
        if task.promotion == "certificate"
        else "no: this task has no certificates"
    )
    yield "certified", f"yes, by record {found.certificate}" if best.certified else uncertified
    yield (
        "promoted",
        wording.promotion(task, certified=best.certified, better=best.improved, promoted=best.promoted),
    )
    yield "trust", f"{best.trust}: {TRUST[best.trust]}"
    yield "isolation", best.isolation or "unknown"


def _explain_measurements(found: Findings, best: Best, task: Task) -> str:
    times = wording.counted(best.measurements, "measurement")
    if task.deterministic or best.certified:
        return times
    error = f", standard error {best.standard_error:.2g}" if best.standard_error else ", standard error not known"
    since = "made after it won" if found.confirmed else "that made it win, so that luck is part of it"
    return f"{times} {since}{error}"


def _anchors(gaps: tuple[AnchorGap, ...], fitness: Fitness) -> Iterator[Block]:
    rows = [
        (
            f"{gap.by} {gap.year or ''}".strip(),
            Mono(f"{gap.value:.12g}"),
            Mono(format_signed(gap.difference, fitness.digits)),
            "yes" if gap.reached else "no",
            gap.source,
        )
        for gap in gaps
    ]
    if rows:
        yield TableBlock(("anchor", "value", "best minus anchor", "reached", "source"), tuple(rows), frozenset({1, 2}))


def _tell_cases(found: Findings, best: Best, task: Task) -> Iterator[Block]:
    fitness, kept = task.fitness, found.kept
    if kept is not None:
        tone: Tone = "good" if best.promoted and kept.verdict == "holds" else "bad"
        yield Paragraph(_explain_promotion(kept, best), tone)
        rows = [_case_row(line, fitness) for line in kept.lines]
        headings = ("held-out case", "record", "seed", "best program", "gain", "of the search's gain", "than the seed")
        if rows:
            yield TableBlock(headings, tuple(rows), frozenset({2, 3, 4, 5}))
            told = "Gains are compared in units of the seed's value in each case, unless that is 0 or the fitness is a logarithm."
            yield Paragraph(told)
    for case in best.cases:
        if case.case == FROM_SCRATCH:
            yield Paragraph(f"From scratch: {wording.from_scratch(case, fitness)}.")


def _case_row(line: KeptLine, fitness: Fitness) -> tuple[Line, ...]:
    # Promotion asks for no loss: within the noise a worse value is no worse.
    better = "equal" if line.gain == 0.0 else "better" if (line.share or 0.0) > 0.0 else "no worse"
    return (
        line.case.case,
        Mono(line.case.name),
        Mono(wording.number(line.case.seed, fitness)),
        Mono(line.case.outcome if line.case.fitness is None else wording.number(line.case.fitness, fitness)),
        Mono(format_signed(line.gain, fitness.digits)),
        "-" if line.share is None else wording.share(line.share),
        better if line.case.agrees else "worse",
    )


def _explain_promotion(kept: Kept, best: Best) -> str:
    promoted = "The program is promoted" if best.promoted else "The program is not promoted"
    if not best.improved:
        return "There is nothing to promote: the seed is the best."
    worse = sum(not line.case.agrees for line in kept.lines)
    why = f"on {worse} of {wording.counted(kept.wanted, 'case')} it is worse than the seed; " if worse else ""
    return f"{promoted}: {why}{wording.kept_on_average(kept)}."


def _picture(picture: TaskPicture, best: Best) -> Iterator[Block]:
    if picture.svg:
        command = Mono(f"evolve program show {best.name} --draw picture.svg")
        told = ("The picture that the task draws of ", Mono(best.name), ".")
        yield ImageFigure(picture.svg, told, ("The task draws a picture of this result: ", command, "."))
    elif picture.why:
        yield Paragraph(f"There is no picture of the result: {picture.why}")


def _front(found: Findings, task: Task) -> Iterator[Block]:
    front = found.overview.front
    if front is None:
        return
    yield Paragraph(f"The Pareto front: {wording.front(front)}.")
    if found.front and len(task.objectives) == 2:
        yield _draw_front(found.front, is_cut=front.members > len(found.front))
    if found.front:
        yield _front_table(found.front[:_FRONT], front.members, task)


def _front_table(lines: tuple[EliteLine, ...], members: int, task: Task) -> TableBlock:
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
    first = f"on the front (the first {len(lines)} of {members})" if members > len(lines) else "on the front"
    headings = (first, *names, *fitness, "evidence", "basis")
    return TableBlock(headings, tuple(rows), frozenset(range(1, 1 + len(names) + len(fitness))))


def _draw_front(lines: tuple[EliteLine, ...], *, is_cut: bool) -> ChartFigure:
    """Draws the first objective against the second."""
    points = sorted((line.objectives[0].value, line.objectives[1].value) for line in lines)
    x, y = (f"{each.name} ({each.direction})" for each in lines[0].objectives)
    series = Series("front", [point[0] for point in points], [point[1] for point in points])
    first = f" (its first {len(lines)} programs)" if is_cut else ""
    return ChartFigure((series,), x, y, f"The front{first}: {y} against {x}.")


def _metrics(shown: Shown) -> Iterator[Block]:
    rows = [(name, Mono(f"{value:.6g}")) for name, value in {**shown.descriptors, **shown.metrics}.items()]
    if rows:
        more = f" (the first {_NUMBERS} of {len(rows):,})" if len(rows) > _NUMBERS else ""
        yield Paragraph(f"What the judge has noted of it{more}:")
        yield TableBlock(("descriptor or metric", "value"), tuple(rows[:_NUMBERS]), frozenset({1}))


def _listings(files: Mapping[str, str], blame: Sequence[BlameLine]) -> Iterator[Block]:
    """Yields the files, with the record that brought each line, unless one record brought all of them."""
    notes: dict[str, list[str]] = {}
    if len({line.record for line in blame}) > 1:
        for line in blame:
            notes.setdefault(line.path, []).append(str(line.record))
    if any(show_file(path, text).has_blocks for path, text in files.items()):
        yield Paragraph("Marked lines are those that may change; the others are as in the seed.")
    for path, text in files.items():
        yield CodeListing(path, text, tuple(notes.get(path, ())))


# How it came about


def _glance(found: Findings, task: Task) -> Iterator[Block]:
    """Yields the best so far with the seed, for whoever reads no further; nothing where the seed is the best."""
    best = found.overview.best
    if best is not None and best.improved:
        seed = tuple(each for each in reference_lines(best, task) if each.value == best.seed)[-1:]
        yield ChartFigure((curve_series(_CURVE, found.curve),), "programs", task.fitness.name, levels=seed, size="low")


def _course(found: Findings, task: Task) -> Iterator[Block]:
    points = found.curve
    if not points:
        meets = " that meets the constraints" if task.constraints else ""
        yield Paragraph(f"No program{meets} has a score yet.")
        return
    yield _draw_curve(points, found, task)
    yield from _draw_end(points, found, task)
    yield _draw_costs(points, task)
    yield from _lineage(found, task)
    yield from _authors(found.blame, found.overview.name, task.fitness)


def _draw_curve(points: Sequence[Point], found: Findings, task: Task) -> ChartFigure:
    places, better = [point.programs for point in points], len(points) - 1
    early = places[-1] > 200 and places[len(places) // 2] < _EARLY * places[-1]
    told = f"The best {task.fitness.name} so far against judged programs{' (on a logarithmic scale)' if early else ''}; it got better {wording.counted(better - 1, 'time')}."
    if better > _POINTS:
        told += f" The table has the last {_POINTS} of {better} points."
    if not task.deterministic:
        told += " Each point is what one judging found, and the task is noisy: the luckiest of many stand here."
        told += " What is reported of the best rests on measurements made after it won." if found.confirmed else ""
    lines, table = reference_lines(found.overview.best, task), _curve_table(points, task.fitness)
    return ChartFigure((curve_series(_CURVE, points),), "programs", task.fitness.name, told, table, lines, early)


def _curve_table(points: Sequence[Point], fitness: Fitness) -> TableBlock:
    """Returns the last points but the one for now."""
    rows = [
        (
            str(point.record),
            f"{point.programs:,}",
            format_time(point.seconds),
            Mono(wording.number(point.fitness, fitness)),
            "yes" if point.confirmed else "no",
            f"{point.trust}, {wording.level(point.isolation)}",
        )
        for point in points[:-1][-_POINTS:]
    ]
    headings = ("record", "programs", "after", fitness.name, "confirmed", "basis")
    return TableBlock(headings, tuple(rows), frozenset({0, 1, 2, 3}))


def _draw_end(points: Sequence[Point], found: Findings, task: Task) -> Iterator[Block]:
    """Yields the end of the curve once more, where most of its height was won early."""
    height = abs(points[-1].fitness - points[0].fitness)
    late = [point for point in points if abs(points[-1].fitness - point.fitness) <= _NEAR * height]
    if height == 0.0 or len(late) < 5 or late[0].programs > _HALF * points[-1].programs:
        return
    told = f"The same from program {late[0].programs:,} on, where {1 - _NEAR:.0%} of the gain had been made."
    heights = [point.fitness for point in late]
    near = tuple(each for each in reference_lines(found.overview.best, task) if not is_far(each.value, heights))
    yield ChartFigure((curve_series(_CURVE, late),), "programs", task.fitness.name, told, levels=near)


def _draw_costs(points: Sequence[Point], task: Task) -> ChartRow:
    """Draws the curve against time, and against what models took."""
    last = points[-1]
    axes = ["seconds", *(["calls", "tokens"] if last.calls else []), *(["money"] if last.money else [])]
    return ChartRow(
        tuple(
            ChartFigure((curve_series(_CURVE, points, axis),), AXES[axis], task.fitness.name, size="small")
            for axis in axes
        )
    )


def _lineage(found: Findings, task: Task) -> Iterator[Block]:
    line, name = found.lineage, found.overview.name
    made = [step for step in line if step.line.parents]
    if not made:
        yield Paragraph("The best program is the seed: nothing led to it.")
        return
    told = [step for step in made if step.told]
    some = (
        f" The {len(told)} that changed the score most, and the last ones, are told." if len(told) < len(made) else ""
    )
    steps = wording.counted(len(made), "step")
    yield Paragraph(f"From {line[0].line.name} to the best program it took {steps}, along first parents.{some}")
    yield _steps_table(line if len(line) <= _STEPS else (line[0], *told), task.fitness)
    widest = max(told, key=lambda step: abs(step.line.change or 0.0))
    for step in told:
        yield _fold_step(step, name, task.fitness, unfolded=step is widest)


def _steps_table(line: Sequence[ToldStep], fitness: Fitness) -> TableBlock:
    rows = [
        (
            Mono(step.line.name),
            _maker(step.line.operator or step.line.kind, step.model),
            Mono(wording.number(step.line.fitness, fitness) if step.line.fitness is not None else step.line.outcome),
            Mono(format_signed(step.line.change, fitness.digits)),
            f"{step.line.trust}, {wording.level(step.line.isolation, weaker=step.line.weaker)}",
        )
        for step in line
    ]
    return TableBlock(("program", "made by", fitness.name, "change", "basis"), tuple(rows), frozenset({2, 3}))


def _maker(operator: str, model: str) -> str:
    return operator + (f", {model}" if model else "")


def _fold_step(step: ToldStep, name: str, fitness: Fitness, *, unfolded: bool) -> Folded:
    change = f": {format_signed(step.line.change, fitness.digits)}" if step.line.change is not None else ""
    summary: Line = (Mono(step.line.name), f" by {_maker(step.line.operator or step.line.kind, step.model)}{change}")
    blocks: list[Block] = [Words(step.thought, prose=True)] if step.thought else []
    if step.others:
        blocks.append(Paragraph(f"Further parents: {', '.join(step.others)}."))
    if step.model:
        blocks.append(Paragraph(("Prompt and answer: ", Mono(f"evolve model calls {name} --step {step.step}"))))
    blocks += [CodeChange(each.path, each.before, each.after, each.text) for each in step.differences]
    if not step.differences:
        blocks.append(Paragraph("It has the same text as its parent."))
    return Folded(summary, tuple(blocks), unfolded)


def _authors(blame: Sequence[BlameLine], name: str, fitness: Fitness) -> Iterator[Block]:
    """Yields the records that brought lines of the best program, those with most lines first."""
    counts = Counter(line.record for line in blame)
    if len(counts) < 2:
        return
    first = {line.record: line for line in reversed(blame)}
    more = f" (the {_AUTHORS} with most lines, of {len(counts)})" if len(counts) > _AUTHORS else ""
    yield Paragraph(f"Who wrote the lines of the best program, which the listing names beside them{more}:")
    rows = [
        (
            Mono(f"{name}/{record}"),
            wording.counted(count, "line"),
            _maker(first[record].operator or "seed", first[record].model),
            Mono(format_signed(first[record].change, fitness.digits)),
        )
        for record, count in counts.most_common(_AUTHORS)
    ]
    yield TableBlock(("program", "lines", "made by", "change in score"), tuple(rows), frozenset({1, 3}))


# What did not work


def _tell_failures(found: Findings) -> Iterator[Block]:
    overview = found.overview
    if not overview.records:
        yield Paragraph("Nothing was judged yet.")
        return
    total = sum(overview.outcomes.values())
    rows = [(name, f"{count:,}", wording.share(count, total)) for name, count in overview.outcomes.items() if count]
    yield TableBlock(("outcome", "records", "share"), tuple(rows), frozenset({1, 2}))
    # Both kinds of failures are read together, so that together they say whether all of them were.
    count = sum(each.count for each in (*found.failed, *found.screened))
    last = f" (of the last {LOOKED_AT:,} failures of both kinds)" if count >= LOOKED_AT else ""
    yield from _classes(f"Programs that failed, by what the judge said first{last}", found.failed, overview.name)
    yield from _classes(f"Proposals that were not judged, by their reasons{last}", found.screened, overview.name)
    yield from _yields("operator", overview.operators)
    yield from _yields("model", overview.models)
    if overview.failures:
        yield Paragraph("Calls of models that failed:")
        calls = [(line.model, f"{line.calls:,}", f"{line.failed:,}", line.error) for line in overview.failures]
        yield TableBlock(("model", "calls", "failed", "the last one because"), tuple(calls), frozenset({1, 2}))
    if found.rulings:
        programs = wording.counted(len(overview.quarantined), "program")
        yield Paragraph(f"Quarantined, and left out of all that is reported as found: {programs}.")
        yield TableBlock(
            ("program", "by", "why"), tuple((Mono(each.name), each.by, each.why) for each in found.rulings)
        )
    yield from _lessons(overview.lessons, overview.name)


def _classes(title: str, classes: Sequence[FailureClass], name: str) -> Iterator[Block]:
    if not classes:
        return
    more = f"; {wording.counted(len(classes) - _CLASSES, 'rarer kind')} left out" if len(classes) > _CLASSES else ""
    yield Paragraph(f"{title}{more}:")
    rows: list[tuple[Line, ...]] = []
    for each in classes[:_CLASSES]:
        examples = tuple(part for record in each.examples[:_EXAMPLES] for part in (Mono(f"{name}/{record}"), " "))
        rows.append((each.outcome, each.message or "(no feedback)", f"{each.count:,}", examples))
    yield TableBlock(("outcome", "said first", "count", "for example"), tuple(rows), frozenset({2}))


def _yields(label: str, lines: Sequence[Yield]) -> Iterator[Block]:
    rows = [
        (
            line.name,
            f"{line.proposals:,}",
            f"{line.proposals - line.judged:,}",
            f"{line.judged:,}",
            f"{line.improved:,}",
            wording.share(line.improved, line.judged),
        )
        for line in lines
    ]
    headings = (label, "proposals", Outcome.SCREENED.value, "judged", "better than their parents", "of the judged")
    if rows:
        yield TableBlock(headings, tuple(rows), frozenset(range(1, 6)))


def _lessons(lessons: Sequence[Lesson], name: str) -> Iterator[Block]:
    if not lessons:
        return
    more = f" (the last {_LESSONS} of {len(lessons)})" if len(lessons) > _LESSONS else ""
    yield Paragraph(f"Lessons and hints{more}, which prompts had told from then on:")
    rows: list[tuple[Line, ...]] = [
        (
            each.text,
            "a person's hint" if each.by == PERSON else each.by,
            Mono(f"{name}/{each.about}") if each.about else "",
        )
        for each in lessons[-_LESSONS:]
    ]
    yield TableBlock(("lesson", "by", "about"), tuple(rows))


# What it cost


def _cost(found: Findings, fitness: Fitness) -> Iterator[Block]:
    overview = found.overview
    speed = f", {overview.programs / overview.seconds:,.3g} programs a second" if overview.seconds >= 1.0 else ""
    programs, measurements = (
        wording.counted(count, noun)
        for count, noun in ((overview.programs, "program"), (overview.measurements, "measurement"))
    )
    measured = wording.share(found.measure_seconds, found.judge_seconds)
    yield Facts(
        (
            ("time", f"{format_time(overview.seconds)} in which the campaign ran{speed}"),
            ("judged", f"{programs}, {measurements}"),
            ("judges", f"{format_time(found.judge_seconds)} in all, {measured} of it for measurements"),
            ("left of the budget", found.left),
        )
    )
    if overview.costs is None:
        yield Paragraph("No model was called: no tokens and no money.")
    else:
        yield from _model_costs(overview.costs, fitness)


def _model_costs(costs: Costs, fitness: Fitness) -> Iterator[Block]:
    total = (costs.total,) if len(costs.models) > 1 else ()
    yield _cost_table("model", (*costs.models, *total))
    yield _cost_table("operator", costs.operators)
    yield _cost_table("purpose", costs.purposes)
    line, found = costs.lineage, costs.improvements
    if line is not None and line.calls:
        calls = wording.counted(line.calls, "call")
        told = f"The steps from the seed to the best program took {calls}, {_format_taken(line.tokens, line.money)}."
        yield Paragraph(told)
    if found.tokens is None or found.money is None:
        yield Paragraph("No program that a model wrote was the best so far when it was judged.")
        return
    gained = f", by {found.gained:.4g} of {fitness.name} together" if found.gained else ""
    times, taken = wording.counted(found.count, "time"), _format_taken(found.tokens, found.money)
    yield Paragraph(f"A model's program was the best so far {times}{gained}; all calls cost {taken} for each.")


def format_money(value: float) -> str:
    """Formats US dollars with the digits that matter."""
    return f"{value:,.2f} usd" if value >= 0.1 or not value else f"{value:.2g} usd"


def _format_taken(tokens: float, paid: float) -> str:
    return f"{tokens:,.0f} tokens" + (f" and {format_money(paid)}" if paid else "")


def _cost_table(label: str, lines: Sequence[CostLine]) -> TableBlock:
    """Returns a table without the columns that hold no number."""
    columns: list[tuple[str, list[str]]] = [
        (label, [line.name or "before any step" for line in lines]),
        ("calls", [f"{line.calls:,}" for line in lines]),
        ("failed", [f"{line.failed:,}" for line in lines]),
        ("tokens in", [f"{line.prompt_tokens:,}" for line in lines]),
        ("of them cached", [f"{line.cached_tokens:,}" if line.cached_tokens else "" for line in lines]),
        ("tokens out", [f"{line.completion_tokens:,}" for line in lines]),
        ("money", [format_money(line.money) if line.money else "" for line in lines]),
        ("own GPUs", [format_time(line.gpu_seconds) if line.gpu_seconds else "" for line in lines]),
        ("time", [format_time(line.seconds) for line in lines]),
        ("counted exactly", [wording.share(line.exact) for line in lines]),
    ]
    kept = [(heading, cells) for heading, cells in columns if any(cells)]
    rows = zip(*(cells for _, cells in kept), strict=True)
    return TableBlock(tuple(heading for heading, _ in kept), tuple(rows), frozenset(range(1, len(kept))))


# Where and with what, and how to verify it


def _environment(campaign: Campaign, found: Findings) -> Iterator[Block]:
    overview, evidence = found.overview, found.evidence
    repeats = "yes" if campaign.settings.deterministic else "no: with the same seed it takes another course"
    rows: list[tuple[str, Line]] = [
        ("versions", ", ".join(f"{name} {version}" for name, version in found.versions.items())),
        ("task version", Mono(campaign.task.version)),
        ("judge slots", str(campaign.settings.judges)),
        ("another run repeats it", repeats),
    ]
    if evidence is not None and evidence.environment:
        rows.append(("the best was judged with", evidence.environment))
    if overview.noise_floor is not None and not campaign.task.deterministic:
        told = f"{overview.noise_floor:.3g}: the standard deviation of one measurement of the seed"
        rows.append(("noise floor", told))
    yield Facts(tuple(rows))
    machines = [(each.hardware or "unknown", each.isolation or "unknown") for each in found.machines]
    if machines:
        yield TableBlock(("hardware class", "isolation"), tuple(machines))
    if not found.settings:
        yield Paragraph("All settings are the defaults.")
        return
    yield Paragraph("Settings that differ from the defaults:")
    settings = [(Mono(each.key), _format_json(each.value), _format_json(each.default)) for each in found.settings]
    yield TableBlock(("setting", "value", "default"), tuple(settings))


def _format_json(value: object) -> Mono:
    told = json.dumps(_hide_folders(value), ensure_ascii=False)
    return Mono(told if len(told) <= _VALUE else f"{told[:_VALUE]} …")


def _hide_folders(value: object) -> object:
    """Returns a setting whose paths are file names alone: a report leaves the machine."""
    match value:
        case str() if value.startswith(("/", "~/")):
            return f"…/{value.rstrip('/').rsplit('/', 1)[-1]}"
        case list() | tuple():
            return [_hide_folders(each) for each in value]
        case dict():
            return {key: _hide_folders(each) for key, each in value.items()}
        case _:
            return value


def _verify(found: Findings) -> Iterator[Block]:
    overview = found.overview
    rows = [
        (
            f"evolve campaign replay {overview.name}",
            "computes the archive from the log again, and says whether it is the one that the log tells of",
        )
    ]
    if overview.best is not None:
        name = overview.best.name
        rows += [
            (f"evolve program show {name} --code", "prints the best program with what its score rests on"),
            (f"evolve program lineage {name}", "prints the steps that led to it"),
            (f"evolve program verify {name}", "judges it again, and says whether its score holds"),
            (f"evolve program export {name}", "writes it with all that another machine needs to judge it again"),
        ]
    if overview.costs is not None:
        rows.append((f"evolve model calls {overview.name}", "lists every call of a model, with prompt and answer"))
    log = overview.log.rsplit("/", 1)[-1]
    yield Paragraph(
        f"Everything here is computed from the campaign's log, {log}, which holds {overview.events:,} events. "
        "Where it lies in the workspace (archive/campaigns/), these commands check it:"
    )
    yield CommandList(tuple(rows))
