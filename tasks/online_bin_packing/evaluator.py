"""Judges a rule for online packing: the judge owns the items, the loop and the count; the candidate answers questions.

An online rule must not know what comes. A candidate's process that held the list of items could find it (frames, memory) and pack offline, so
it never does: it is told one item and the room in the bins, and answers. At 0.1 ms per question 10,000 items would take
a second or more; hence a rule that looks at each bin alone, as most do, is asked for its table first: what it gives to each room for each size
of item, some 100 questions. The judge packs by the table. That is as honest: the table was complete before the first item. A rule that
looks at other bins too, or at their order, is found out by random crowds of bins and is played item by item.

Invariant: whatever a candidate answers, a score is that of an online packing, by a rule that gives equal answers to equal questions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import picture
import rule
from instances import Instance, Law, drawn, law_from
from numpy.random import Generator
from packing import Packing, entropy_bits, packed, room_left

from evolve import Candidate, Evaluation, Trial, evaluator


@evaluator
def evaluate(candidate: Candidate, trial: Trial) -> Evaluation:
    """The excess over the volume bound in percent, all instances together."""
    law = law_from(trial.parameters)
    instances = drawn(law, trial.entropy(law.sample))
    try:
        packings, by_table = _packings(candidate, law, instances, np.random.default_rng(trial.entropy(0, 1)))
    except rule.Unusable as error:
        return Evaluation.invalid(str(error))
    except rule.Unsteady as error:
        return Evaluation.wrong(str(error), tag="two answers to one question")
    counts = room_left(packings, law.capacity)
    bins, volume, lower = sum(counts), sum(one.volume for one in instances), sum(one.lower for one in instances)
    return Evaluation.ok(
        fitness=_percent(bins, volume),
        descriptors={
            "opened_early": sum(packing.early for packing in packings) / (law.items * law.instances),
            "room_bits": entropy_bits(counts),
        },
        metrics={
            "bins": bins,
            "volume_bound": volume,
            "lower_bound": lower,
            "excess_over_lower_bound": _percent(bins, lower),
            "by_table": int(by_table),
        },
        artifacts={"room_left": counts, "volume_bound": volume},
        feedback=_told(packings, instances, by_table),
    )


def _packings(
    candidate: Candidate, law: Law, instances: Sequence[Instance], rng: Generator
) -> tuple[list[Packing], bool]:
    """One packing per instance, and whether the table was enough."""
    table = rule.tabulated(candidate, range(law.low, law.high + 1), law.capacity, rng)
    if rule.is_for_each_bin_alone(candidate, table, rng):
        return [packed(one.items, law.capacity, table.choose) for one in instances], True
    packings: list[Packing] = []
    questions: list[rule.Question] = []
    for one in instances:
        packing, some = rule.played(candidate, one.items, law.capacity, rng)
        packings.append(packing)
        questions.extend(some)
    rule.recall(candidate, questions, rng)
    return packings, False


def _percent(bins: int, bound: int) -> float:
    return 100.0 * (bins - bound) / bound


def _told(packings: Sequence[Packing], instances: Sequence[Instance], by_table: bool) -> str:
    pairs = ", ".join(
        f"{len(packing.residuals)} ({one.volume})" for packing, one in zip(packings, instances, strict=True)
    )
    how = "each bin alone" if by_table else "more than each bin alone, and was asked item by item"
    return (
        f"Bins for each instance, and in brackets the least that the volume allows: {pairs}. The rule looks at {how}."
    )


@evaluate.draw
def draw(artifacts: Mapping[str, Any], trial: Trial) -> str:
    """How full the bins are, as a picture."""
    return picture.svg(artifacts["room_left"], artifacts["volume_bound"])
