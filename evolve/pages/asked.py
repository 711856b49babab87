"""What a campaign was asked: the problem, what a score means, what it might spend.

Invariant: everything here was settled before the first program."""

from collections.abc import Iterator, Mapping, Sequence

from evolve import wording
from evolve.campaign import Campaign
from evolve.pages.document import Block, Bullets, Facts, Folded, Line, Mono, Section, Table, Words
from evolve.types import Constraint, Stage, Task

_SHORT = 1_200
"""Characters of a brief that is not folded."""


def asked(campaign: Campaign) -> Section:
    """The chapter."""
    task, settings = campaign.task, campaign.settings
    rows: list[tuple[str, Line]] = [
        ("task", (Mono(task.name), f", version {task.version[:16]}")),
        ("a score is", _score(task)),
        ("judged by", _judge(task)),
        ("budget", str(campaign.budget) if settings.budget else "none: a person ends it"),
        ("strategy", (Mono(settings.strategy.name), f", seed {settings.seed}")),
        ("operators", ", ".join(campaign.operator_names)),
        ("models", ", ".join(f"{each.name} ({each.kind})" for each in settings.models.members) or "none"),
        ("seed program", _size(task.seed.files)),
    ]
    if campaign.forked_from:
        rows.append(("forked from", f"{campaign.forked_from}, whose records it began with"))
    if task.parameters:
        rows.append(("parameters", ", ".join(f"{key} = {value}" for key, value in task.parameters.items())))
    return Section("asked", "What was asked", (*_brief(task), Facts(tuple(rows)), *_aims(task), *_stages(task.stages)))


def _brief(task: Task) -> Iterator[Block]:
    text = task.brief.strip()
    if len(text) <= _SHORT:
        yield Words(text, prose=True)
    else:
        yield Folded("The brief, as models read it", (Words(text, prose=True),))


def _score(task: Task) -> str:
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


def _judge(task: Task) -> Line:
    evaluator = task.evaluator
    if evaluator.plugin:
        return ("the evaluator ", Mono(evaluator.plugin), ", with the settings of the task")
    return ("the task's ", Mono(evaluator.path or "evaluator"))


def _size(files: Mapping[str, str]) -> str:
    lines = sum(text.count("\n") + 1 for text in files.values())
    return f"{', '.join(files)} ({wording.counted(lines, 'line')})"


def _aims(task: Task) -> Iterator[Block]:
    lines: list[Line] = []
    if task.objectives:
        told = ", ".join(f"{each.name} ({each.direction})" for each in task.objectives)
        lines.append(f"Objectives beside it: {told}.")
    lines += [f"Constraint: {_constraint(each)}." for each in task.constraints]
    if task.promotion == "certificate":
        lines.append("A program is promoted by a certificate: its value is proven in exact arithmetic.")
    elif task.held_out:
        names = ", ".join(case.name for case in task.held_out)
        lines.append(f"Held out, which the search never sees and promotion asks about: {names}.")
    else:
        lines.append("No case is held out, so that no program can be promoted.")
    yield Bullets(tuple(lines))
    if task.anchors:
        rows = [
            (each.by, str(each.year or ""), Mono(f"{each.value:.12g}"), each.source)
            for each in sorted(task.anchors, key=lambda each: task.fitness.inside(each.value))
        ]
        yield Table(("anchor", "year", task.fitness.name, "source"), tuple(rows), frozenset({2}))


def _constraint(each: Constraint) -> str:
    bounds = [f"at least {each.at_least:g}"] if each.at_least is not None else []
    bounds += [f"at most {each.at_most:g}"] if each.at_most is not None else []
    return f"{each.metric} must be {' and '.join(bounds)}"


def _stages(stages: Sequence[Stage]) -> Iterator[Block]:
    if len(stages) < 2:
        return
    rows = [(stage.name, f"{stage.limit:g} s", _threshold(stage)) for stage in stages]
    yield Table(("stage", "time limit", "goes on"), tuple(rows), frozenset({1}))


def _threshold(stage: Stage) -> str:
    parts = [f"from {stage.threshold:g}"] if stage.threshold is not None else []
    parts += [f"the best {stage.top:.0%}"] if stage.top is not None else []
    return ", ".join(parts) or "every program that passes"
