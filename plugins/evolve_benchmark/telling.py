"""What a judging leaves beside its score: a row for every instance to keep, and the worst of them in words.

Invariant: plain data and plain text, of a size that the number of instances bounds."""

from collections.abc import Sequence

from evolve_benchmark.scoring import Measured

_LATE = "late: counts as the trivial answer"


def rows(measured: Sequence[Measured]) -> list[dict[str, str | float | bool]]:
    """Every instance in the module's order, as an artifact."""
    return [
        {
            "kind": one.kind,
            "label": one.label,
            "value": float(one.value),
            "reference": float(one.reference),
            "score": float(one.score),
            "late": one.late,
        }
        for one in measured
    ]


def table(measured: Sequence[Measured], most: int) -> str:
    """The `most` worst instances as Markdown, the worst first; of equal ones in the module's order."""
    order = sorted(range(len(measured)), key=lambda index: float(measured[index].score))
    lines = ["| instance | score | value | reference | |", "|---|---|---|---|---|"]
    for index in order[:most]:
        one = measured[index]
        name = " ".join(part for part in (f"{index + 1}", one.kind, one.label) if part)
        late = _LATE if one.late else ""
        lines.append(
            f"| {name} | {float(one.score):.6g} | {float(one.value):.6g} | {float(one.reference):.6g} | {late} |"
        )
    left = len(measured) - most
    note = (
        [f"\nAnd {left} more, each with a score of {float(measured[order[most]].score):.6g} or better."]
        if left > 0
        else []
    )
    return "\n".join([*lines, *note])
