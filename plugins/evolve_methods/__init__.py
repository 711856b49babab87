"""Published search methods as plugins, one module each, with the paper in its docstring. See `docs/methods.md`.

A module lists what it brings in `ENTRIES`; `METHODS` names the modules."""

from collections.abc import Sequence

from evolve.hookspecs import OperatorEntry, PresetEntry, StrategyEntry, hookimpl
from evolve_methods import adaptive, agent, gepa, hgm, plan, prompts, puct, shinka, thoughts, wide

METHODS = (adaptive, agent, gepa, hgm, plan, prompts, puct, shinka, thoughts, wide)


@hookimpl
def register_strategies() -> Sequence[StrategyEntry]:
    """Returns the strategies of all methods."""
    return [entry for method in METHODS for entry in method.ENTRIES if isinstance(entry, StrategyEntry)]


@hookimpl
def register_operators() -> Sequence[OperatorEntry]:
    """Returns the operators of all methods."""
    return [entry for method in METHODS for entry in method.ENTRIES if isinstance(entry, OperatorEntry)]


@hookimpl
def register_presets() -> Sequence[PresetEntry]:
    """Returns the presets of all methods."""
    return [entry for method in METHODS for entry in method.ENTRIES if isinstance(entry, PresetEntry)]
