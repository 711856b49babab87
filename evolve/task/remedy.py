"""What to do about a seed that its own evaluator does not pass.

Invariant: a search and the check of a task say the same."""

from evolve.types import Outcome


def remedy(outcome: Outcome) -> str:
    """By how the judging of the seed has ended."""
    if outcome is Outcome.INTERNAL:
        return "mend the evaluator, or the task's module"
    return "mend the seed or the evaluator"
