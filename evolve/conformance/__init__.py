"""Whether a task may be trusted: its seed, its declarations, and what its judge makes of programs that fail in every common way.

Invariant: everything is judged by the task's own evaluator in real judge processes; nothing is written."""

from evolve.conformance.check import check
from evolve.conformance.findings import CaseLine, Conformance, Finding

__all__ = ["CaseLine", "Conformance", "Finding", "check"]
