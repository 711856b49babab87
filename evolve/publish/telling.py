"""How a claimed value is said.

Invariant: a noisy one is never said without how sure it is."""

from evolve.publish.claims import Claims, Value
from evolve.wording import counted


def value_told(claims: Claims) -> str:
    """The value with its uncertainty, and the direction that is better."""
    value, better = claims.value, "larger" if claims.task.direction == "max" else "smaller"
    return (
        "none: it never passed"
        if value is None
        else f"{number(claims, value.fitness)}{interval(claims, value)} ({better} is better)"
    )


def interval(claims: Claims, value: Value) -> str:
    """Its standard error and the limits of the truth; nothing for an exact value."""
    if value.certified or claims.task.deterministic:
        return ""
    if value.standard_error is None or value.low is None or value.high is None:
        return ", of unknown precision"
    between = f"95 %: {number(claims, value.low)} to {number(claims, value.high)}"
    return f" ± {value.standard_error:.2g} ({between}, {counted(value.count, 'judging')})"


def number(claims: Claims, value: float) -> str:
    """With the task's digits."""
    return f"{value:.{claims.task.digits}g}"
