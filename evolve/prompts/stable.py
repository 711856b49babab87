"""The sections that are the same in every prompt of a campaign: the task, what counts, what may change, and the files beside a program.

Invariant: they follow from the task and the seed's score alone, and name no held-out case, no seed of a judge, and no place of this
machine."""

import json
from collections.abc import Iterator

from evolve.prompts.changeable import allowed
from evolve.prompts.figures import number
from evolve.prompts.quoting import DATA, fenced, path_name
from evolve.prompts.subject import Subject
from evolve.prompts.trimming import Draft, Piece
from evolve.protocols import History
from evolve.types import Constraint, Direction, Scalar, Stage, Task

CONTEXT_WORTH = 90.0
PLUGIN_WORTH = 75.0
_BETTER = {"max": "larger is better", "min": "smaller is better"}
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def task(subject: Subject) -> Draft:
    """The brief, as its author wrote it."""
    return Draft(words={"name": subject.task.name, "brief": subject.task.brief.strip()}, always=True)


def rules(subject: Subject) -> Draft:
    """What decides, and what may change; no line of it is left out."""
    lines = [*_scores(subject), *_judging(subject.task), *_changing(subject.task)]
    return Draft((Piece(("\n".join(f"- {line}" for line in lines),)),))


def context(subject: Subject) -> Draft:
    """The files beside the program, each whole or named alone."""
    return Draft(tuple(_file(path, text) for path, text in subject.task.context.items()))


def sections(subject: Subject) -> list[tuple[str, Draft]]:
    """What plugins say, by name."""
    return [(told.name, Draft((Piece((told.text, ""), (PLUGIN_WORTH,)),))) for told in subject.context.sections]


def _file(path: str, text: str) -> Piece:
    named = path_name(path)
    absent = f"`{named}` ({len(text):,} characters) does not fit in here."
    return Piece((f"{DATA}\n\n{fenced(text, named)}", absent, ""), (CONTEXT_WORTH, CONTEXT_WORTH + 1))


def _scores(subject: Subject) -> Iterator[str]:
    task, fitness = subject.task, subject.task.fitness
    digits = max(1, fitness.digits)
    yield f"The score is the {fitness.name}; {_BETTER[fitness.direction]}."
    seed = _seed_score(subject.history)
    if seed is not None:
        yield f"The program that the search began with scores {number(fitness.shown(seed), digits)}."
    if task.anchors:
        known = "; ".join(f"{anchor.value:.{digits}g} ({_source(anchor.by, anchor.year)})" for anchor in task.anchors)
        yield f"Known scores of others: {known}."
    if task.bound is not None:
        yield f"It is proven that none is beyond {task.bound:.{digits}g}."
    if not task.deterministic:
        yield "Equal programs get different scores at times. A gain counts when it is larger than that noise."
    for each in task.objectives:
        yield f"Beside the score, the objective {each.name} matters: {_BETTER[each.direction]}."
    for constraint in task.constraints:
        yield f"{_bounds(constraint)} A program that misses this is never the best."
    if task.axes:
        names = ", ".join(f"{axis.name} ({axis.low:g} to {axis.high:g})" for axis in task.axes)
        yield f"Good programs that differ in these are kept side by side: {names}."


def _seed_score(history: History) -> float | None:
    """That of a campaign's first record, which is its seed; None where an earlier version of the task has judged it."""
    return history.fitness(1) if len(history) and history.is_current(1) and not history.operator(1) else None


def _source(by: str, year: int | None) -> str:
    return f"{by}, {year}" if year else by


def _bounds(constraint: Constraint) -> str:
    limits = (("at least", constraint.at_least), ("at most", constraint.at_most))
    wanted = " and ".join(f"{words} {value:g}" for words, value in limits if value is not None)
    return f"The metric {constraint.metric} must be {wanted}."


def _judging(task: Task) -> Iterator[str]:
    if task.entry:
        yield f"The evaluator calls functions of the module `{task.entry}`: keep their names, their arguments, and what they return."
    if task.parameters:
        yield f"Parameters: {', '.join(f'{name} = {_value(value)}' for name, value in task.parameters.items())}."
    if task.held_out:
        yield "The best programs are judged on other parameters too, which no request shows: a program that fits these alone is worth nothing."
    if len(task.stages) == 1:
        yield f"Judging one program takes at most {task.stages[0].limit:g} seconds."
    else:
        yield f"It is judged in stages: {'; '.join(_stage(stage, task.fitness.direction) for stage in task.stages)}."
    yield f"It runs alone, with {', '.join(_limits(task))}."
    if task.carry:
        yield f"The evaluator has what the parent left: {', '.join(task.carry)}."


def _value(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _stage(stage: Stage, direction: Direction) -> str:
    passes = ""
    if stage.top is not None:
        passes = f", passed by the best {100 * stage.top:g} %"
    elif stage.threshold is not None:
        passes = f", passed with a score of at {'least' if direction == 'max' else 'most'} {stage.threshold:g}"
    return f"{stage.name} (at most {stage.limit:g} seconds{passes})"


def _limits(task: Task) -> Iterator[str]:
    limits, grants = task.limits, task.limits.grants
    yield f"{_size(limits.memory)} of memory"
    cores = max(stage.needs.cores for stage in task.stages)
    yield f"{cores} processor core{'s' if cores > 1 else ''}"
    yield f"{_size(limits.scratch)} of files in its working folder"
    yield "one GPU" if grants.gpu else "no GPU"
    yield "a network of its own machine alone" if grants.network == "loopback" else "no network"
    if not grants.execute:
        yield "no other programs to start"


def _size(count: int) -> str:
    for unit, name in _BYTES:
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} bytes"


def _changing(task: Task) -> Iterator[str]:
    yield allowed(task.seed)
    if task.new_files:
        yield f"New files may be added where their paths match {' or '.join(f'`{pattern}`' for pattern in task.new_files)}; none may be taken away."
    else:
        yield "No files may be added, and none taken away."
