"""Single edits of short texts."""

import numpy as np

from evolve.operators.mutations import Material, Mutation
from evolve.operators.python_source import Source, apply_edit, read


def source(text: str) -> Source:
    """A file of which all may change."""
    return read(text, "a.py", ((0, len(text)),))


def material(text: str, *donors: str, seed: int = 0, kept: frozenset[str] = frozenset()) -> Material:
    """A file, and others that something may be taken from."""
    return Material(source(text), [source(donor) for donor in donors], kept, np.random.default_rng(seed))


def results(find: Mutation, text: str, *donors: str, tries: int = 120, kept: frozenset[str] = frozenset()) -> set[str]:
    """What one kind of edit makes of a text, over so many throws of the dice."""
    found = set()
    for seed in range(tries):
        made = material(text, *donors, seed=seed, kept=kept)
        edit = find(made)
        found.add(apply_edit(made.source, edit) if edit else None)
    return {one for one in found if one is not None}
