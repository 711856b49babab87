"""Checks of whether a task may be trusted: its seed, its declarations, and what its evaluator makes of programs that fail in every common way."""

from evolve.conformance.check import check
from evolve.conformance.findings import Conformance, Finding

__all__ = ["Conformance", "Finding", "check"]
