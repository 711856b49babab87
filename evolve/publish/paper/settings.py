"""What figures have in common.

Invariant: nothing that differs between two runs: no dates, a fixed salt for ids, no fonts but those that come with the library."""

from typing import Any

SETTINGS: Any = {
    "svg.hashsalt": "evolve",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.unicode_minus": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "path.simplify": False,
}
NO_DATES: dict[str, dict[str, None]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None, "ModDate": None},
}
