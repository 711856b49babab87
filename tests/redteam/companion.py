"""What many hostile programs need: a file beside their own, and the system whose calls they make.

Invariant: it is text here; evolve imports `raw.py` never, candidates do."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

RAW: Mapping[str, str] = MappingProxyType({"raw.py": Path(__file__).with_name("raw.py").read_text("utf-8")})
"""System calls by number, and attempts that may fail."""
LINUX = frozenset({"linux"})
"""What most of them need."""
PAGES: Mapping[str, str] = MappingProxyType({"pages.py": Path(__file__).with_name("pages.py").read_text("utf-8")})
"""Bits in what the kernel remembers of files that nobody has changed."""
