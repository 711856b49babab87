"""How every benchmark tells its figures: a table for people, one JSON object for programs.

Invariant: a figure that misses what was wanted is marked, and never dropped."""

import json
import operator
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_WANTED = re.compile(r"(<=|>=|<|>)\s*([0-9.]+)")


def reached(figure: float, wanted: str) -> bool:
    """Whether a figure is what was wanted, such as `>= 150`; raises `ValueError` for another form."""
    match = _WANTED.fullmatch(wanted)
    if match is None:
        raise ValueError(f"what is wanted is written like '>= 150', got {wanted!r}")
    return bool(_COMPARE[match[1]](figure, float(match[2])))


def machine() -> dict[str, str | int]:
    """What the figures depend on beside the code."""
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }


def missed(figures: Mapping[str, float], wanted: Mapping[str, str]) -> list[str]:
    """The figures that are there and are not what was wanted of them."""
    return [key for key, mark in wanted.items() if key in figures and not reached(figures[key], mark)]


def report(
    name: str,
    figures: Mapping[str, float],
    wanted: Mapping[str, str],
    json: bool,
    notes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Prints the figures of benchmark `name`, and what was wanted of those that have a mark to reach, such as `>= 150`; `notes` are
    what is to be known beside, by a word each."""
    print(_as_json(name, figures, wanted, notes) if json else _as_table(name, figures, wanted, notes))


def _as_json(name: str, figures: Mapping[str, float], wanted: Mapping[str, str], notes: Mapping[str, str]) -> str:
    told = {"name": name, "figures": dict(figures), "wanted": dict(wanted), "notes": dict(notes), "machine": machine()}
    return json.dumps(told)


def _as_table(name: str, figures: Mapping[str, float], wanted: Mapping[str, str], notes: Mapping[str, str]) -> str:
    rows = [
        (key, f"{value:,.4g}" if value < 1000 else f"{value:,.0f}", *_verdict(key, value, wanted))
        for key, value in figures.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)).rstrip() for row in rows
    ]
    facts = machine()
    title = f"{name}  ({facts['processor']}, {facts['cores']} cores, Python {facts['python']})"
    return "\n".join([title, *lines, *(f"{word}: {text}" for word, text in notes.items())])


def _verdict(key: str, value: float, wanted: Mapping[str, str]) -> tuple[str, str]:
    if key not in wanted:
        return "", ""
    return f"wanted {wanted[key]}", "reached" if reached(value, wanted[key]) else "MISSED"
