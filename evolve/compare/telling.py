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
        f"middle ({found.level:.0%} interval)",
        "least to most",
        "area",
        "campaigns",
        "isolation",
    )
    return headings, tuple(_arm_row(line, found) for line in _ordered(found))


def cost_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Headings and a row for each arm in the same order: what its campaigns took, tokens and money only where there are any."""
    headings = (
        "took (median)",
        "judged",
        "measured",
        "time",
        *(("tokens",) if _asked(found) else ()),
        *(("usd",) if _paid(found) else ()),
    )
    return headings, tuple(_cost_row(line, found) for line in _ordered(found))


def _ordered(found: Comparison) -> list[Line]:
    return sorted(found.lines, key=lambda line: _order(line, found))


def _order(line: Line, found: Comparison) -> float:
    return math.inf if line.final is None else -found.fitness.inside(line.final)


def _asked(found: Comparison) -> bool:
    return any(line.tokens for line in found.lines)


def _paid(found: Comparison) -> bool:
    return any(line.money for line in found.lines)


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
        ", ".join(line.isolation) or "unknown",
    )


def _cost_row(line: Line, found: Comparison) -> tuple[str, ...]:
    return (
        line.arm,
        f"{line.programs:,.0f}",
        f"{line.measurements:,.0f}",
        duration(line.seconds),
        *((f"{line.tokens:,.0f}",) if _asked(found) else ()),
        *((f"{line.money:,.2f}",) if _paid(found) else ()),
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
    headings = (f"against {found.baseline}", "better by", "ends better (probability)", "p", "p corrected", "finding")
    return headings, tuple(_duel_row(duel, found.fitness) for duel in found.duels)


def _duel_row(duel: Duel, fitness: Fitness) -> tuple[str, ...]:
    gain, chance, few = duel.difference, duel.superiority, duel.verdict == "too few"
    return (
        duel.arm,
        _gain(duel, fitness) if gain else _NOTHING,
        _limited(chance.estimate, chance.low, chance.high, 2),
        _NOTHING if few else _probability(duel.probability),
        _NOTHING if few else _probability(duel.corrected),
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
    many = wording.counted(duel.count, "pair" if duel.paired else "campaign")
    from_what = f"{many} of one seed" if duel.paired else f"{many} of each, unpaired"
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
                f"Nothing can be concluded of {sides} from {from_what}: however far apart they were, p would be {_least(duel)}, "
                f"so that none is told. Do: run at least {duel.enough} seeds."
            )
        case _:
            return f"No difference between {sides} is seen: {_why_none(duel, found)} ({from_what}; {chance}).{_could(duel)}"


def _least(duel: Duel) -> str:
    return "1" if duel.least >= 1.0 else f"{_probability(duel.least)} or more"


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
    """`7/10, 120 (80 to >300)`: the middle campaign and its limits."""
    end = f">{found.end:,.4g}"
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
