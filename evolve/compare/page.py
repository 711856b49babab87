"""A comparison as a folder's files: Markdown for people, the picture, and the values for programs.

Invariant: every text is escaped where it stands; numbers that are not finite are null."""

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

from evolve.compare import telling
from evolve.compare.comparison import Comparison
from evolve_view.documents import Bullets, Commands, Mono, Paragraph, Table
from evolve_view.markdown import render_block as block

PICTURE = "comparison.svg"


def markdown(found: Comparison, command: str) -> str:
    """The page; `command` is what was typed for it."""
    parts = [
        block(Paragraph(telling.about(found))),
        f"![Best so far of each arm]({PICTURE})",
        _table(*telling.arm_table(found)),
        _table(*telling.cost_table(found)),
        block(Bullets(telling.findings(found))),
        _table(*telling.duel_table(found)),
        _table(*telling.win_table(found)),
        *([_table(*telling.target_table(found))] if found.reached else []),
        block(Bullets(telling.explained(found))),
        *_settings(found),
        "## Again",
        block(Commands(((command, "does it again; campaigns that are finished are used as they are"),))),
        block(Bullets(tuple(f"{line.arm}: {', '.join(line.campaigns)}" for line in found.lines))),
    ]
    return "\n\n".join(["# Comparison", *parts]) + "\n"


def _table(headings: tuple[str, ...], rows: telling.Rows) -> str:
    return block(Table(headings, rows))


def _settings(found: Comparison) -> list[str]:
    rows = telling.settings(found)
    if not rows:
        return []
    told = tuple((arm, Mono(key), Mono(value)) for arm, key, value in rows)
    return ["## Settings in which the arms differ", block(Table(("arm", "setting", "value"), told))]


def values(found: Comparison) -> Mapping[str, Any]:
    """The comparison as plain data for JSON."""
    plain: Mapping[str, Any] = _finite(dataclasses.asdict(found))
    return plain


def text(found: Comparison) -> str:
    """The same as the text of a file."""
    return json.dumps(values(found), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    """The same without what JSON has no word for."""
    match value:
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
