"""All hostile candidates, group by group.

Invariant: names are unique."""

from evolve.sandbox.corpus import processor
from evolve.sandbox.corpus.case import Case

GROUPS = (processor.CASES,)
CASES: tuple[Case, ...] = tuple(case for group in GROUPS for case in group)
