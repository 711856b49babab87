"""How programs come to another island than the one that they were proposed for: copied, re-seeded or arranged.

Invariant: no randomness; a copy is a role, so that its record, its cell and its estimate stay the same."""

import math
from collections.abc import Sequence

from evolve.archive.contests import Contests
from evolve.types import RecordId


def migrate(contests: Contests, number: int, migrants: int) -> None:
    """The best elites of island `number` claim places on the next one of the ring, under the same rule as anybody else."""
    following = (number + 1) % len(contests.islands)
    for _, program in contests.islands[number].ranking[:migrants]:
        _settle_on(contests, program, following)


def reset(contests: Contests) -> None:
    """The worse half of the islands, by their best program, starts anew: each from the best program of one of the others."""
    islands = contests.islands
    order = sorted(range(len(islands)), key=lambda number: islands[number].ranking[:1] or [((math.inf, 0.0), 0)])
    kept = len(order) - len(order) // 2
    founders = [islands[number].best() for number in order[:kept]]
    for turn, number in enumerate(order[kept:]):
        contests.clear(number)
        founder = founders[turn % kept]
        if founder is not None:
            _settle_on(contests, founder, number)


def rearranged(contests: Contests, number: int, records: Sequence[RecordId]) -> None:
    """Island `number` belongs to the programs of these records, and to no others."""
    programs = []
    for record in records:
        program = contests.evidence.of_record(record)
        if program is None:
            raise ValueError(f"record {record} has no accepted program. Do: arrange records whose outcome is OK")
        programs.append(program)
    contests.clear(number)
    for program in programs:
        _settle_on(contests, program, number)


def _settle_on(contests: Contests, program: int, number: int) -> None:
    if program not in contests.islands[number]:
        contests.islands[number].join(program, contests.evidence.cells[program])
        contests.enter(program, number)
