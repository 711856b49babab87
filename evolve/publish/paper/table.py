"""`table.tex`: the value, the seed and the anchors with their sources, as a LaTeX table.

Invariant: a proven value is written so that what stands there is proven, too: cut towards the worse side, never rounded to the better one."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from evolve import report
from evolve.campaign import Campaign
from evolve.publish.paper.escaping import latex
from evolve.publish.paper.references import keys
from evolve.publish.result import Result, seed_estimate
from evolve.types import Direction, Fitness, Task

_DECIMALS = Decimal("1e-15")


def proven_text(value: float, direction: Direction) -> str:
    """A certified value with at most 15 decimals, on the safe side of what is proven."""
    rounding = ROUND_FLOOR if direction == "max" else ROUND_CEILING
    exact = Decimal(value)
    shown = exact.quantize(_DECIMALS, rounding=rounding) if abs(exact) < 10**12 else exact
    text = f"{shown:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def value_text(found: Result, fitness: Fitness) -> str:
    """The value alone, as plain text."""
    if found.certificate:
        return proven_text(found.value.fitness, fitness.direction)
    return f"{found.value.fitness:.{fitness.digits}g}"


def basis_text(found: Result, task: Task) -> str:
    """What a value rests on, in a few words of plain text."""
    fitness = task.fitness
    if found.certificate:
        return "proven lower bound" if fitness.direction == "max" else "proven upper bound"
    if task.deterministic:
        return "measured; equal programs get equal scores"
    times = f"{found.value.count} measurement{'' if found.value.count == 1 else 's'}"
    if found.value.low is None or found.value.high is None:
        return f"measured, {times}"
    return f"measured, {times}, 95 % interval {found.value.low:.{fitness.digits}g} to {found.value.high:.{fitness.digits}g}"


def table(campaign: Campaign, found: Result) -> str:
    """The whole file."""
    task = campaign.task
    fitness, cited = task.fitness, keys(task)
    trust = "" if found.trust == "witnessed" else f", {found.trust}"
    isolation = found.isolation.partition(":")[0] or "unknown"
    rows = [
        (
            "This work",
            value_text(found, fitness),
            f"{basis_text(found, task)}; judged at isolation {isolation}{trust}",
            "",
        ),
        *_seed(campaign),
    ]
    for gap in report.anchor_gaps(task, fitness.inside(found.value.fitness)):
        year = f" ({gap.year})" if gap.year else ""
        key = cited.get((gap.by, gap.source), "")
        rows.append((f"{gap.by}{year}", repr(gap.value), gap.source, f"  % \\cite{{{key}}}" if key else ""))
    better = "larger is better" if fitness.direction == "max" else "smaller is better"
    lines = [
        f"% {ascii(found.name)[1:-1]} of task {ascii(task.name)[1:-1]}. Needs no package.",
        r"\begin{tabular}{lll}",
        r"\hline",
        rf"{latex(task.name)} & {latex(fitness.name)} ({better}) & by \\",
        r"\hline",
        *(rf"{latex(name)} & {latex(value)} & {latex(rest)} \\{comment}" for name, value, rest, comment in rows),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _seed(campaign: Campaign) -> list[tuple[str, str, str, str]]:
    seed = seed_estimate(campaign)
    if seed is None:
        return []
    fitness = campaign.task.fitness
    times = f"{seed.count} measurement{'' if seed.count == 1 else 's'}"
    error = f", standard error {seed.standard_error:.2g}" if seed.standard_error else ""
    return [
        ("The program that the search began with", f"{fitness.shown(seed.mean):.{fitness.digits}g}", times + error, "")
    ]
