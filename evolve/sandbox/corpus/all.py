"""All hostile candidates, group by group.

Invariant: names are unique."""

from evolve.sandbox.corpus import (
    files,
    ipc,
    kill,
    leak,
    namespaces,
    network,
    privilege,
    processor,
    surface,
    trace,
)
from evolve.sandbox.corpus.case import Case

GROUPS = (
    kill.CASES,
    trace.CASES,
    leak.CASES,
    files.CASES,
    namespaces.CASES,
    privilege.CASES,
    network.CASES,
    surface.CASES,
    ipc.CASES,
    processor.CASES,
)
CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group)
