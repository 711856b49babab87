"""How much processor time one prompt takes: a program of 6 kB in the middle of a campaign, with lineage, children, lessons and three other programs."""

import argparse
import math
import random
import statistics
import threading
import time

import numpy as np
from figures import report

from evolve.prompts import build
from evolve.protocols import Context
from evolve.testing import RehearsedHistory, rehearsed_task
from evolve.types import Evaluation, Lesson, Origin, Outcome, Program, Record, Selection, text_id

LINES = 130
RECORDS = 400
BUILT = 200
EDITED = 5
WANTED = {"prompt_ms": "< 1.5", "again_ms": "< 1"}


def program(number: int) -> Program:
    """One that shares most of its lines with all others."""
    lines = [f"    value_{line} = compute(value_{line - 1}, {line}) + 0.{line}" for line in range(1, LINES)]
    drawn = random.Random(number)
    for change in range(EDITED):
        lines[drawn.randrange(len(lines))] = f"    value_{number}_{change} = other({number}, {change})"
    body = "\n".join(lines)
    return Program({"seed.py": f"import math\n# EVOLVE-BLOCK-START\ndef f():\n{body}\n# EVOLVE-BLOCK-END\n"})


def campaign() -> tuple[Context, list[int]]:
    """A context on a history, and the records in it that have a score."""
    history, parent, scored = RehearsedHistory(), 1, list[int]()
    words = "Each line of what the evaluator says tells of one case.\n" * 40
    name = text_id(words)
    history.texts[name] = words
    for number in range(1, RECORDS + 1):
        made = program(number)
        fails = number % 3 == 2
        found = Evaluation.failed(Outcome.CRASHED, name) if fails else Evaluation.ok(number / 100.0, feedback=name)
        origin = Origin("seed", 0) if number == 1 else Origin("proposal", number, operator="diff", parents=(parent,))
        history.records.append(Record(number, origin, made.id, found, "One line on what was changed, and why. " * 3))
        history.programs[made.id] = made
        if not fails:
            scored.append(number)
            parent = number if number % 15 == 0 else parent
    lessons = [Lesson(f"Lesson {number}: leave the first line alone.", "reflect") for number in range(20)]
    task = rehearsed_task(program(1))
    context = Context(task, history, np.random.default_rng(0), math.inf, threading.Event(), lessons=lessons)
    return context, scored


def milliseconds(context: Context, parents: list[int], scored: list[int]) -> list[float]:
    """What each prompt costs."""
    found = []
    for number, parent in enumerate(parents):
        begun = time.process_time()
        build(
            "diff",
            Selection("diff", parents=(parent,), inspirations=tuple(scored[number : number + 3])),
            context,
            tokens=24_000,
        )
        found.append(1000 * (time.process_time() - begun))
    return found


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wants_json = parser.parse_args().json
    context, scored = campaign()
    parents = scored[-BUILT:]
    first, again = (milliseconds(context, parents, scored) for _ in range(2))
    figures = {
        "prompt_ms": statistics.mean(first),
        "again_ms": statistics.mean(again),
        "program_bytes": float(len(context.task.seed.files["seed.py"])),
    }
    report("prompts", figures, WANTED, wants_json)


if __name__ == "__main__":
    main()
