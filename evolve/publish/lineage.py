"""How a program came about: its line of first parents, step by step, with what each changed.

Invariant: the words of operators and models stand in JSON or in a diff, never in a page as they are."""

from dataclasses import dataclass

from evolve import report
from evolve.campaign import Campaign
from evolve.publish.contents import json_bytes
from evolve.report.blame import differences
from evolve.report.records import made_by
from evolve.types import Program, RecordId
from evolve.types.codec import encode

STEPS = "lineage/steps.json"


@dataclass(frozen=True, slots=True)
class Step:
    """An ancestor, or the program itself. `change` is its fitness minus that of its first parent, in the task's own direction; `diff` the file with what
    it changed, empty for the first one."""

    record: RecordId
    program: str
    kind: str
    outcome: str
    parents: tuple[RecordId, ...] = ()
    operator: str = ""
    model: str = ""
    fitness: float | None = None
    change: float | None = None
    thought: str = ""
    trust: str = ""
    isolation: str = ""
    diff: str = ""


def steps_of(campaign: Campaign, record: RecordId) -> tuple[tuple[Step, ...], dict[str, bytes]]:
    """The steps from the seed on, and the files that tell of them."""
    steps: list[Step] = []
    files: dict[str, bytes] = {}
    former: Program | None = None
    for number, line in enumerate(report.lineage(campaign, record)):
        name = campaign.state.history.program_id(line.record)
        program = campaign.state.history.program(name) if name else Program({})
        diff = f"lineage/{number:04d}.diff" if former is not None else ""
        if former is not None:
            files[diff] = "".join(one.text for one in differences(former, program, "ab")).encode(
                "utf-8", "surrogatepass"
            )
        steps.append(_step(campaign, line, name or "", diff))
        former = program
    files[STEPS] = json_bytes([encode(step) for step in steps])
    return tuple(steps), files


def _step(campaign: Campaign, line: report.LineageStep, program: str, diff: str) -> Step:
    record = campaign.log.settled(line.record).record
    origin = made_by(campaign, record)
    return Step(
        record=line.record,
        program=program,
        kind=line.kind,
        outcome=line.outcome,
        parents=line.parents,
        operator=line.operator,
        model=origin.model,
        fitness=line.fitness,
        change=line.change,
        thought=record.thought,
        trust=line.trust,
        isolation=line.isolation,
        diff=diff,
    )
