"""All hostile candidates, group by group.

Invariant: names are unique."""

from evolve.sandbox.corpus import answers, compilers, crashes, disk, memory, processes, processor, state, texts
from evolve.sandbox.corpus.case import Case

GROUPS = (
    processor.CASES,
    memory.CASES,
    processes.CASES,
    disk.CASES,
    answers.CASES,
    texts.CASES,
    crashes.CASES,
    compilers.CASES,
    state.CASES,
)
CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group)
