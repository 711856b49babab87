"""The second half of an error about a name: what could have been meant."""

import difflib
from collections.abc import Iterable


def did_you_mean(got: str, known: Iterable[str]) -> str:
    """` Did you mean 'x'?` for the nearest known name, else ` Known: a, b.`; empty when nothing is known."""
    names = sorted(known)
    near = difflib.get_close_matches(got, names, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    return f" Known: {', '.join(names)}." if names else ""
