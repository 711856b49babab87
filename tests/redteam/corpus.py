"""All hostile candidates, group by group.

Invariant: names are unique."""

from tests.redteam.case import Case
from tests.redteam.cases import (
    answers,
    compilers,
    crashes,
    disk,
    files,
    ipc,
    kill,
    leak,
    memory,
    namespaces,
    network,
    privilege,
    processes,
    processor,
    state,
    surface,
    texts,
    trace,
)

GROUPS = (
    processor.CASES,
    memory.CASES,
    processes.CASES,
    disk.CASES,
    answers.CASES,
    texts.CASES,
    crashes.CASES,
    kill.CASES,
    trace.CASES,
    leak.CASES,
    files.CASES,
    namespaces.CASES,
    privilege.CASES,
    network.CASES,
    surface.CASES,
    ipc.CASES,
    state.CASES,
    compilers.CASES,
)
CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group)
