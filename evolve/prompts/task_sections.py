"""Sections that are the same in every prompt of a campaign: the task, what counts, what may change, and the files beside a program.

They follow from the task and the seed's score alone, and name no held-out case, no seed of an evaluator, and no place of this machine."""

import functools
import json
from collections.abc import Iterator

from evolve.edits.blocks import blocks
from evolve.prompts.prompt_context import Subject
from evolve.prompts.quoting import DATA, fence_text, path_name, quote_inline
from evolve.prompts.scores import format_number
from evolve.prompts.trimming import SectionDraft, SectionPiece
from evolve.protocols import History
from evolve.types import Constraint, Direction, Program, Scalar, Stage, Task


def describe_changeable(program: Program) -> str:
    """Describes which files of a task's programs may change, or which parts of them."""
    marked = [path for path in program.files if has_blocks(program, path)]
    if not marked:
        return f"All of {_name_paths(list(program.files))} may change."
    only = f"Of {_name_paths(marked)}, only the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` may change"
    others = [path for path in program.files if path not in marked]
    return f"{only}, and nothing of {_name_paths(others)}." if others else f"{only}."


@functools.lru_cache(maxsize=512)
def describe_places(program: Program, seed: Program) -> str:
    """Returns the lines of a program's blocks, and the files that it has added, as a sentence; all of it where the seed has no block."""
    if not any(has_blocks(seed, path) for path in seed.files):
        return "All of it may change."
    told = []
    for path, text in program.files.items():
        ranges = [_format_lines(text, span.start, span.end) for span in blocks(text, path)]
        if path not in seed.files:
            told.append(f"all of `{path_name(path)}`")
        elif ranges:
            told.append(f"lines {' and '.join(ranges)} of `{path_name(path)}`")
    return f"May change: {'; '.join(told)}."


@functools.lru_cache(maxsize=512)
def has_blocks(program: Program, path: str) -> bool:
    """Returns whether only blocks of a file may change."""
    return bool(blocks(program.files[path], path))


def _name_paths(paths: list[str]) -> str:
    names = [f"`{path_name(path)}`" for path in paths]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _format_lines(text: str, start: int, end: int) -> str:
    """Returns the lines of a block, counted from 1; an empty one is between two."""
    first = text.count("\n", 0, start) + 1
    last = text.count("\n", 0, end)
    return f"{first} to {last}" if last >= first else f"between {first - 1} and {first}"


CONTEXT_WORTH = 90.0
_CASES = 12
"""Cases that are named."""
PLUGIN_WORTH = 75.0
_BETTER = {"max": "larger is better", "min": "smaller is better"}
_BYTES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def draft_task(subject: Subject) -> SectionDraft:
    """Returns the brief, as its author wrote it."""
    return SectionDraft(words={"name": subject.task.name, "brief": subject.task.brief.strip()}, always=True)


def draft_rules(subject: Subject) -> SectionDraft:
    """Drafts what decides, and what may change; no line of it is left out."""
    lines = [*_describe_scores(subject), *_describe_evaluation(subject.task), *_describe_changes(subject.task)]
    return SectionDraft((SectionPiece(("\n".join(f"- {line}" for line in lines),)),))


def draft_context(subject: Subject) -> SectionDraft:
    """Returns the files beside the program, each whole or named alone."""
    return SectionDraft(tuple(_draft_file(path, text) for path, text in subject.task.context.items()))


def draft_plugin_sections(subject: Subject) -> list[tuple[str, SectionDraft]]:
    """Returns the sections of plugins, by name."""
    return [
        (told.name, SectionDraft((SectionPiece((told.text, ""), (PLUGIN_WORTH,)),)))
        for told in subject.context.sections
    ]


def _draft_file(path: str, text: str) -> SectionPiece:
    named = path_name(path)
    absent = f"`{named}` ({len(text):,} characters) does not fit in here."
    return SectionPiece((f"{DATA}\n\n{fence_text(text, named)}", absent, ""), (CONTEXT_WORTH, CONTEXT_WORTH + 1))


def _describe_scores(subject: Subject) -> Iterator[str]:
    task, fitness = subject.task, subject.task.fitness
    digits = max(1, fitness.digits)
    yield f"The score is the {fitness.name}; {_BETTER[fitness.direction]}."
    seed = _seed_score(subject.history)
    if seed is not None:
        yield f"The initial program scores {format_number(fitness.shown(seed), digits)}."
    if task.cases:
        yield _describe_cases(task)
    if task.anchors:
        known = "; ".join(
            f"{anchor.value:.{digits}g} ({_format_source(anchor.by, anchor.year)})" for anchor in task.anchors
        )
        yield f"Published scores: {known}."
    if task.bound is not None:
        yield f"It is proven that no score can be better than {task.bound:.{digits}g}."
    if not task.deterministic:
        yield "Scores are noisy: equal programs can get different scores. An improvement counts if it is larger than the noise."
    for each in task.objectives:
        yield f"A further objective is {each.name}: {_BETTER[each.direction]}."
    for constraint in task.constraints:
        yield f"{_format_bounds(constraint)} A program that violates this is never the best."
    if task.axes:
        names = ", ".join(f"{axis.name} ({axis.low:g} to {axis.high:g})" for axis in task.axes)
        yield f"The search keeps good programs that differ in {names}; these are no part of the score."


def _describe_cases(task: Task) -> str:
    """Describes the cases that the score is the mean of, each by its name and by the parameters that it sets."""
    shown = []
    for case in task.cases[:_CASES]:
        own = {name: value for name, value in case.parameters.items() if value != task.parameters.get(name)}
        values = [f"{name} = {_format_value(value)}" for name, value in own.items()]
        values += [f"weight {case.weight:g}"] if case.weight != 1 else []
        name = quote_inline(case.name)
        shown.append(f"{name} ({', '.join(values)})" if values else name)
    more = f", and {len(task.cases) - _CASES} more" if len(task.cases) > _CASES else ""
    return f"It is the mean over {len(task.cases)} cases: {', '.join(shown)}{more}."


def _seed_score(history: History) -> float | None:
    """Returns the score of a campaign's first record, which is its seed; None where an earlier version of the task has evaluated it."""
    return history.fitness(1) if len(history) and history.is_current(1) and not history.operator(1) else None


def _format_source(by: str, year: int | None) -> str:
    return f"{by}, {year}" if year else by


def _format_bounds(constraint: Constraint) -> str:
    limits = (("at least", constraint.at_least), ("at most", constraint.at_most))
    wanted = " and ".join(f"{words} {value:g}" for words, value in limits if value is not None)
    return f"The metric {constraint.metric} must be {wanted}."


def _describe_evaluation(task: Task) -> Iterator[str]:
    if any(path.rpartition(".")[0] == task.entry.replace(".", "/") for path in task.seed.files):
        yield f"The evaluator calls the module `{task.entry}` as described above, or as the initial program shows: keep the names, arguments and results of what it calls."
    if task.parameters:
        yield f"Parameters: {', '.join(f'{name} = {_format_value(value)}' for name, value in task.parameters.items())}."
    if task.held_out:
        yield "The best programs are also evaluated on other parameters, which no request shows: a program that works for these parameters alone is worthless."
    if len(task.stages) == 1:
        yield f"The evaluation of a program takes at most {task.stages[0].limit:g} seconds."
    else:
        yield f"The evaluation has stages: {'; '.join(_format_stage(stage, task.fitness.direction) for stage in task.stages)}."
    yield f"The program runs in isolation, with {', '.join(_format_limits(task))}."
    if task.carry:
        yield f"The evaluator has what the parent left: {', '.join(task.carry)}."


def _format_value(value: Scalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _format_stage(stage: Stage, direction: Direction) -> str:
    passes = ""
    if stage.top is not None:
        passes = f", passed by the best {100 * stage.top:g} %"
    elif stage.threshold is not None:
        passes = f", passed with a score of at {'least' if direction == 'max' else 'most'} {stage.threshold:g}"
    return f"{stage.name} (at most {stage.limit:g} seconds{passes})"


def _format_limits(task: Task) -> Iterator[str]:
    limits, grants = task.limits, task.limits.grants
    yield f"{_format_size(limits.memory)} of memory"
    cores = max(stage.needs.cores for stage in task.stages)
    yield f"{cores} processor core{'s' if cores > 1 else ''}"
    yield f"{_format_size(limits.scratch)} of files in its working folder"
    yield "one GPU" if grants.gpu else "no GPU"
    yield "a network of its own machine alone" if grants.network == "loopback" else "no network"
    if not grants.execute:
        yield "no other programs to start"


def _format_size(count: int) -> str:
    for unit, name in _BYTES:
        if count >= unit:
            return f"{count / unit:g} {name}"
    return f"{count} bytes"


def _describe_changes(task: Task) -> Iterator[str]:
    yield describe_changeable(task.seed)
    if task.new_files:
        yield f"New files may be added where their paths match {' or '.join(f'`{pattern}`' for pattern in task.new_files)}; none may be removed."
    else:
        yield "No files may be added or removed."
