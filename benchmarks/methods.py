"""Simulation of the published methods at equal numbers of calls: each preset, the default and `best_of_n`, with the synthetic proposer of
`strategy_simulation.py`, whose law is written there. No language model takes part, and no task: no figure of it is a result of a search.

Strategies, settings and operators are those of the presets. What an operator's request asks of a model, the law does by a part of itself (`ROLES`); every answer is one call,
and so is every note: a plan, a list of approaches, an instruction. The law gives nothing for a note, so that `plan`, `adaptive` and `prompts` pay here for
what only a model could give back. Scores are 0 for the seed and 1 for the best that there is; nothing is noisy, and no task has cases, without which
`hgm` measures nothing again and `gepa` has one program on its front."""

import argparse
from collections.abc import Callable, Mapping, Sequence

from strategy_simulation import ARMS, Arm, Role, add_options, print_tables

import evolve_methods
from evolve.hookspecs import OperatorEntry, PresetEntry, StrategyEntry
from evolve.protocols import Strategy

ROLES: Mapping[str, Role] = {
    "eoh_i1": Role("sample", from_seed=True),
    "eoh_e1": Role("sample", from_seed=True),
    "eoh_e2": Role("crossover"),
    "eoh_m1": Role("rewrite"),
    "eoh_m2": Role("tune"),
    "eoh_m3": Role("drop"),
    "name_ideas": Role("", extras={"name_ideas": ("one", "another", "a third")}),
    "follow_idea": Role("rewrite", bold=True),
    "write_plan": Role("", extras={"write_plan": "plan"}),
    "follow_plan": Role("rewrite"),
    "summarise_plan": Role(""),
    "write_instruction": Role("", extras={"write_instruction": "instruction"}),
    "follow_instruction": Role("rewrite"),
}


def find_arms() -> dict[str, Arm]:
    """Returns the default, `best_of_n`, and an arm for each preset of the methods."""
    entries = [entry for method in evolve_methods.METHODS for entry in method.ENTRIES]
    strategies = {entry.name: entry for entry in entries if isinstance(entry, StrategyEntry)}
    traits = {entry.name: entry.traits for entry in entries if isinstance(entry, OperatorEntry)}
    presets = {entry.name: entry for entry in entries if isinstance(entry, PresetEntry)}
    found = {name: ARMS[name] for name in ("default", "best_of_n")}
    for name, preset in sorted(presets.items()):
        settings = dict(preset.settings["strategy"])
        strategy = strategies[settings.pop("name")]
        islands = preset.settings.get("archive", {}).get("islands", 4)
        found[name] = Arm(
            make_strategy(strategy, settings), strategy.operators, islands=islands, roles=ROLES, traits=traits
        )
    return found


def make_strategy(entry: StrategyEntry, settings: Mapping[str, object]) -> Callable[[Sequence[str]], Strategy]:
    """Returns the maker of a strategy for a set of operators."""
    return lambda operators: entry.factory(settings, operators)


def main() -> None:
    """Prints a table for each law."""
    parser = argparse.ArgumentParser(description="Simulation of the published methods: no result of a language model.")
    arms = find_arms()
    add_options(parser, arms, budgets=[30, 100, 300], laws=["base", "fluent"])
    print_tables("method", arms, parser.parse_args())


if __name__ == "__main__":
    main()
