"""`evolve program export --paper`: a folder with everything that a paper says of a result, and that its readers need to check it.

Invariant: the folder appears whole or not at all; what it says to have verified was verified by the very files that are in it."""

from evolve.publish.paper.folder import Written, write_paper

__all__ = ["Written", "write_paper"]
