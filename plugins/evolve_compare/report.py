"""Comparison as sentences, tables, a page with a picture, and JSON.

Where no difference is seen, the text says so. Names are somebody else's words and are escaped."""

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from evolve.markdown import escape, format_code, format_table
from evolve.stop import duration, spelled
from evolve.types import Fitness
from evolve_compare.comparison import ArmSummary, Comparison
from evolve_compare.significance import ArmTest
from evolve_view.charts import ChartFigure, Reference, Series, chart

PICTURE = "comparison.svg"
Rows = tuple[tuple[str, ...], ...]
_NOTHING = "-"


def format_page(found: Comparison) -> str:
    """Returns the comparison as Markdown."""
    campaigns = [f"{line.arm}: {', '.join(line.campaigns)}" for line in found.lines]
    parts = [
        "# Comparison",
        escape(describe_comparison(found), _LONG),
        f"![Best so far of each arm]({PICTURE})",
        _format_table(*arm_table(found)),
        _format_bullets(list_findings(found)),
        _format_table(*duel_table(found)),
        _format_bullets(list_explanations(found)),
        *_format_settings(found),
        "## Campaigns",
        _format_bullets(campaigns),
    ]
    return "\n\n".join(parts) + "\n"


_LONG = 100_000
"""Characters of a sentence: an arm may have hundreds of campaigns, which are all named."""


def _format_table(headings: tuple[str, ...], rows: Rows) -> str:
    return format_table(tuple(map(escape, headings)), [tuple(map(escape, row)) for row in rows])


def _format_bullets(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {escape(sentence, _LONG)}" for sentence in sentences)


def _format_settings(found: Comparison) -> list[str]:
    rows = [(escape(arm), format_code(key), format_code(value)) for arm, key, value in settings_table(found)]
    if not rows:
        return []
    return ["## Settings in which the arms differ", format_table(("arm", "setting", "value"), rows)]


def draw_bands(found: Comparison) -> str:
    """Returns one `<svg>`: the best value of each arm so far, with the band in which its middle lies."""
    series = (Series(band.arm, band.places, band.middle, band.low, band.high, step=True) for band in found.bands)
    # The hardest anchor alone: more lines of one colour are not told apart.
    hardest = sorted(found.anchors, key=lambda anchor: -found.fitness.inside(anchor[0]))[:1]
    levels = tuple(Reference(value, f"{name} {value:.8g}") for value, name in hardest)
    return chart(ChartFigure(tuple(series), found.per, found.fitness.name, levels), height=360)


def to_plain(found: Comparison) -> Mapping[str, Any]:
    """Returns the comparison as data for JSON; numbers that are not finite are null."""
    plain: Mapping[str, Any] = _replace_infinite(dataclasses.asdict(found))
    return plain


def format_json(found: Comparison) -> str:
    """Returns the text of a JSON file."""
    return json.dumps(to_plain(found), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _replace_infinite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _replace_infinite(one) for key, one in value.items()}
        case list() | tuple():
            return [_replace_infinite(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


# --- sentences and tables, for a terminal and for a page alike


def describe_comparison(found: Comparison) -> str:
    """Returns a sentence on what was compared."""
    seeds = sorted({len(line.campaigns) for line in found.lines})
    many = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    measured = "" if found.deterministic else ", as they were measured again after they won"
    return (
        f"{len(found.lines)} arms on {found.task}, {many} campaign{'s' * (many != '1')} each, all at {spelled(found.per, found.end)}: "
        f"{found.fitness.name} ({found.fitness.direction}) of the best programs{measured}"
    )


def arm_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Returns headings and a row for each arm, the best first, with the medians of what its campaigns took; tokens and money only where there are any."""
    headings = [
        "arm",
        f"middle ({found.level:.0%} interval)",
        "least to most",
        "campaigns",
        "isolation",
        "evaluated",
        "time",
    ]
    lines = sorted(found.lines, key=lambda line: _order(line, found))
    rows = [_arm_row(line, found) for line in lines]
    for heading, cells in (
        ("tokens", [f"{line.tokens:,.0f}" if line.tokens else "" for line in lines]),
        ("usd", [f"{line.money:,.2f}" if line.money else "" for line in lines]),
    ):
        if any(cells):
            headings.append(heading)
            rows = [(*row, cell) for row, cell in zip(rows, cells, strict=True)]
    return tuple(headings), tuple(rows)


def _order(line: ArmSummary, found: Comparison) -> float:
    return math.inf if line.final is None else -found.fitness.inside(line.final)


def _arm_row(line: ArmSummary, found: Comparison) -> tuple[str, ...]:
    known = sorted(value for value in line.finals if value is not None)
    spread = " to ".join(f"{value:.{found.fitness.digits}g}" for value in (*known[:1], *known[-1:]))
    failed = f" ({line.failed} failed)" if line.failed else ""
    claimed = "".join(f" [{trust}]" for trust in line.trust if trust != "witnessed")
    return (
        line.arm,
        _format_limited(line.final, line.low, line.high, found.fitness.digits) + claimed,
        spread or _NOTHING,
        f"{len(line.campaigns)}{failed}",
        ", ".join(line.isolation) or "unknown",
        f"{line.programs:,.0f}",
        duration(line.seconds),
    )


def _format_limited(middle: float | None, low: float | None, high: float | None, digits: int) -> str:
    """Returns `2.31 (1.9 to 2.8)`, with the digits that the limits leave; `none` where there is no value."""
    if middle is None:
        return "none"
    ends = [end for end in (low, high) if end is not None and math.isfinite(end)]
    width = max(ends) - min(ends) if len(ends) == 2 else 0.0
    if width <= 0.0:
        shown = [f"{value:.{digits}g}" for value in (middle, *ends[:1])]
        return shown[0] if len(ends) == 2 else f"{shown[0]} (no interval)"
    decimals = min(max(1 - math.floor(math.log10(width)), 0), 15)
    return f"{middle:.{decimals}f} ({min(ends):.{decimals}f} to {max(ends):.{decimals}f})"


def duel_table(found: Comparison) -> tuple[tuple[str, ...], Rows]:
    """Returns headings and a row for each arm against the baseline."""
    headings = (f"against {found.baseline}", "better by", "p", "p corrected", "finding")
    return headings, tuple(_duel_row(duel, found.fitness) for duel in found.duels)


def _duel_row(duel: ArmTest, fitness: Fitness) -> tuple[str, ...]:
    gain, few = duel.difference, duel.verdict == "too few"
    return (
        duel.arm,
        _format_gain(duel, fitness) if gain else _NOTHING,
        _NOTHING if few else _format_probability(duel.probability),
        _NOTHING if few else _format_probability(duel.corrected),
        duel.verdict,
    )


def _format_gain(duel: ArmTest, fitness: Fitness) -> str:
    found = duel.difference
    if found is None or not math.isfinite(found.estimate):
        return "not to be said in numbers"
    if not (math.isfinite(found.low) and math.isfinite(found.high)):
        low, high = (f"{end:.3g}" if math.isfinite(end) else "beyond every number" for end in (found.low, found.high))
        return f"{found.estimate:.3g} ({low} to {high})"
    return _format_limited(found.estimate, found.low, found.high, fitness.digits)


def _format_probability(value: float) -> str:
    return f"{value:.2g}" if value < 0.1 else f"{value:.2f}"


def list_findings(found: Comparison) -> tuple[str, ...]:
    """Returns a sentence for each test against the baseline."""
    first = [] if found.improved else ["No campaign found a program that is better than the seed program."]
    return (*first, *(_format_finding(duel, found) for duel in found.duels))


def _format_finding(duel: ArmTest, found: Comparison) -> str:
    sides = f"{duel.arm} and {duel.baseline}"
    many = _count(duel.count, "pair" if duel.paired else "campaign")
    from_what = f"{many} of one seed" if duel.paired else f"{many} of each, unpaired"
    chance = f"p = {_format_probability(duel.corrected)}, corrected for {len(found.duels)} comparison{'s' * (len(found.duels) > 1)}"
    match duel.verdict:
        case "better" | "worse":
            return f"{duel.arm} is {duel.verdict} than {duel.baseline}: better by {_format_gain(duel, found.fitness)}, from {from_what} ({chance})."
        case "equal":
            return f"No difference: all campaigns of {sides} ended with the same value."
        case "too few":
            return (
                f"Nothing can be concluded of {sides} from {from_what}: however far apart they were, p would be {_format_least(duel)}, "
                f"so that none is told. Try: run at least {duel.enough} seeds."
            )
        case _:
            return f"No difference between {sides} is seen: {_explain_none(duel, found)} ({from_what}; {chance})."


def _format_least(duel: ArmTest) -> str:
    return "1" if duel.least >= 1.0 else f"{_format_probability(duel.least)} or more"


def _explain_none(duel: ArmTest, found: Comparison) -> str:
    gain = duel.difference
    if gain is not None and gain.low <= 0.0 <= gain.high:
        return f"the interval of the gain, {_format_gain(duel, found.fitness)}, contains 0"
    return f"the gain is {_format_gain(duel, found.fitness)}, which can be chance among so many comparisons"


def list_explanations(found: Comparison) -> tuple[str, ...]:
    """Returns how the figures were made, and the notes."""
    return (
        f"The middle of an arm is the interquartile mean of its campaigns, with bootstrap intervals of {found.level:.0%} (docs/comparing.md).",
        *(f"Note: {note}." for note in found.notes),
    )


def settings_table(found: Comparison) -> Rows:
    """Returns arm, key and value of each setting in which the arms differ."""
    return tuple((arm, key, value) for arm, values in found.settings.items() for key, value in values.items())
