"""What a comparison says: its sentences and its tables, for a terminal and for a page alike.

Invariant: pure; where no difference can be seen, that is said, and how small a one could have been."""

import math

from evolve import wording
from evolve.compare.comparison import Comparison, Line
from evolve.compare.duels import Duel
from evolve.compare.reaching import Reached
from evolve.stop import duration, spelled
from evolve.types import Fitness

Rows = tuple[tuple[str, ...], ...]
_NOTHING = "-"


def about(found: Comparison) -> str:
    """What was compared, in a sentence."""
    seeds = sorted({len(line.campaigns) for line in found.lines})
    many = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    measured = "" if found.deterministic else ", as they were measured again after they won"
    return (
        f"{len(found.lines)} arms on {found.task}, {many} campaign{'s' * (many != '1')} each, all at {spelled(found.per, found.end)}: "
        f"{found.fitness.name} ({found.fitness.direction}) of the best programs{measured}"
    )


def arm_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Headings and a row for each arm, the best first."""
    headings = (
        "arm",
        f"{found.fitness.name}, middle ({found.level:.0%} interval)",
        "least to most",
        "area",
        "campaigns",
        "judged",
        "measured",
        "time",
        *(("tokens", "usd") if _paid(found) else ()),
        "isolation",
    )
    return headings, tuple(_arm_row(line, found) for line in sorted(found.lines, key=lambda line: _order(line, found)))


def _order(line: Line, found: Comparison) -> float:
    return math.inf if line.final is None else -found.fitness.inside(line.final)


def _paid(found: Comparison) -> bool:
    return any(line.tokens for line in found.lines)


def _arm_row(line: Line, found: Comparison) -> tuple[str, ...]:
    known = sorted(value for value in line.finals if value is not None)
    spread = " to ".join(wording.number(value, found.fitness) for value in (*known[:1], *known[-1:]))
    area = _limited(line.area.estimate, line.area.low, line.area.high, 3) if line.area else _NOTHING
    failed = f" ({line.failed} failed)" if line.failed else ""
    claimed = "".join(f" [{trust}]" for trust in line.trust if trust != "witnessed")
    return (
        line.arm,
        _limited(line.final, line.low, line.high, found.fitness.digits) + claimed,
        spread or _NOTHING,
        area,
        f"{len(line.campaigns)}{failed}",
        f"{line.programs:,.0f}",
        f"{line.measurements:,.0f}",
        duration(line.seconds),
        *((f"{line.tokens:,.0f}", f"{line.money:,.2f}") if _paid(found) else ()),
        ", ".join(line.isolation) or "unknown",
    )


def _limited(middle: float | None, low: float | None, high: float | None, digits: int) -> str:
    """`2.31 (1.9 to 2.8)`, with the digits that the limits leave; nothing where there is no value."""
    if middle is None:
        return "none"
    ends = [end for end in (low, high) if end is not None and math.isfinite(end)]
    width = max(ends) - min(ends) if len(ends) == 2 else 0.0
    if width <= 0.0:
        told = [f"{value:.{digits}g}" for value in (middle, *ends[:1])]
        return told[0] if len(ends) == 2 else f"{told[0]} (no interval)"
    decimals = min(max(1 - math.floor(math.log10(width)), 0), 15)
    return f"{middle:.{decimals}f} ({min(ends):.{decimals}f} to {max(ends):.{decimals}f})"


def duel_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Headings and a row for each arm against the baseline."""
    headings = (f"against {found.baseline}", "better by", "ends better with probability", "p", "p corrected", "finding")
    return headings, tuple(_duel_row(duel, found.fitness) for duel in found.duels)


def _duel_row(duel: Duel, fitness: Fitness) -> tuple[str, ...]:
    gain, chance = duel.difference, duel.superiority
    return (
        duel.arm,
        _gain(duel, fitness) if gain else _NOTHING,
        _limited(chance.estimate, chance.low, chance.high, 2),
        _probability(duel.probability),
        _probability(duel.corrected),
        duel.verdict,
    )


def _gain(duel: Duel, fitness: Fitness) -> str:
    found = duel.difference
    if found is None or not math.isfinite(found.estimate):
        return "not to be said in numbers"
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        low, high = (f"{end:.3g}" if math.isfinite(end) else "beyond every number" for end in (found.low, found.high))
        return f"{found.estimate:.3g} ({low} to {high})"
    return _limited(found.estimate, found.low, found.high, fitness.digits)


def _probability(value: float) -> str:
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def findings(found: Comparison) -> tuple[str, ...]:
    """What follows, a sentence for each duel."""
    first = [] if found.improved else ["No campaign found a program that is better than the seed program."]
    return (*first, *(_finding(duel, found) for duel in found.duels))


def _finding(duel: Duel, found: Comparison) -> str:
    sides = f"{duel.arm} and {duel.baseline}"
    from_what = f"{duel.count} pairs of one seed" if duel.paired else f"{duel.count} campaigns of each, unpaired"
    chance = (
        f"p = {_probability(duel.corrected)}, corrected for {len(found.duels)} comparison{'s' * (len(found.duels) > 1)}"
    )
    match duel.verdict:
        case "better" | "worse":
            return f"{duel.arm} is {duel.verdict} than {duel.baseline}: better by {_gain(duel, found.fitness)}, from {from_what} ({chance})."
        case "equal":
            return f"No difference: all campaigns of {sides} ended with the same value."
        case "too few":
            return (
                f"Nothing can be concluded of {sides} from {from_what}: were each of them better on one side, that could still be chance. "
                f"Do: run at least {duel.enough} seeds."
            )
        case _:
            return f"No difference between {sides} is seen: {_why_none(duel, found)} ({from_what}; {chance}).{_could(duel)}"


def _why_none(duel: Duel, found: Comparison) -> str:
    gain = duel.difference
    if gain is not None and gain.low <= 0.0 <= gain.high:
        return f"the interval of the gain, {_gain(duel, found.fitness)}, contains 0"
    return f"the gain is {_gain(duel, found.fitness)}, which can be chance among so many comparisons"


def _could(duel: Duel) -> str:
    if duel.detectable is None:
        return ""
    return f" One of {duel.detectable:.2g} would have been found four times in five; a smaller one may be there."


def win_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Headings and a row for each arm: wins, ties and losses against each other one."""
    names = [line.arm for line in found.lines]
    told = {(one.arm, one.other): f"{one.won}/{one.tied}/{one.lost}" for one in found.wins}
    rows = tuple((name, *(told.get((name, other), _NOTHING) for other in names)) for name in names)
    return ("won/tied/lost against", *names), rows


def target_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Headings and a row for each value to reach: how many campaigns of each arm came to it, and what it took."""
    names = [line.arm for line in found.lines]
    targets = list(dict.fromkeys(one.target for one in found.reached))
    told = {(one.target, one.arm): _reached(one, found) for one in found.reached}
    rows = tuple(
        (f"{wording.number(target.value, found.fitness)} ({target.name})", *(told[target, name] for name in names))
        for target in targets
    )
    return (f"{found.per} to reach", *names), rows


def _reached(one: Reached, found: Comparison) -> str:
    """`7/10, 120 (80 to more than 300)`: the middle campaign and its limits."""
    end = f"more than {found.end:,.4g}"
    if not one.reached:
        return f"0/{one.campaigns}"
    middle, low, high = (end if value is None else f"{value:,.4g}" for value in (one.median, one.low, one.high))
    limits = "" if one.campaigns < 2 or low == high else f" ({low} to {high})"
    return f"{one.reached}/{one.campaigns}, {middle}{limits}"


def scale(found: Comparison) -> str:
    """What the area means."""
    if found.scale is None:
        return "No area is told: nothing is known that is better than the seed program."
    low, high = (
        wording.number(found.fitness.shown(value), found.fitness) for value in (found.scale.floor, found.scale.top)
    )
    return (
        f"Area: which share of the way from the seed program's value ({low}) to the best that is known ({high}, of all anchors and campaigns here) "
        f"the best program had gone, on the average over all {found.per}."
    )


def explained(found: Comparison) -> tuple[str, ...]:
    """How the figures were made."""
    return (
        f"The middle of an arm is the interquartile mean of its campaigns, with bootstrap intervals of {found.level:.0%} (docs/comparing.md).",
        scale(found),
        *(f"Note: {note}." for note in found.notes),
    )


def settings(found: Comparison) -> Rows:
    """Arm, key and value of each setting in which the arms differ."""
    return tuple((arm, key, value) for arm, values in found.settings.items() for key, value in values.items())
