"""The bundled operators as the engine finds them."""

from evolve.operators import register_operators
from evolve.operators.language_model import ProgramWriter, Reflect
from evolve.operators.mutate_ast import MutateAst
from evolve.operators.perturb_literals import PerturbLiterals
from evolve.operators.tune_literals import TuneLiterals
from evolve.types import Traits


def test_what_is_registered_without_a_model() -> None:
    """The learning one is embedded, the baselines' one is history-free, and the structural one is both where judging is quick."""
    found = {
        entry.name: (entry.embedded, entry.history_free, entry.embedded_below_seconds, entry.embedded_suffixes)
        for entry in register_operators()
        if not entry.needs_model
    }
    assert found == {
        "tune_literals": (True, False, None, ()),
        "mutate_ast": (True, True, 1.0, (".py",)),
        "perturb_literals": (False, True, None, ()),
    }


def test_what_is_registered_for_a_model() -> None:
    """Those that propose are embedded; the one that the engine asks is not. `sample` alone is history-free: the prompts of the others show what was tried."""
    found = {
        entry.name: (entry.traits, entry.embedded, entry.scheduled, entry.history_free)
        for entry in register_operators()
        if entry.needs_model
    }
    assert found == {
        "diff": (Traits(needs_model=True), True, False, False),
        "rewrite": (Traits(needs_model=True), True, False, False),
        "crossover": (Traits(needs_model=True, parents=2), True, False, False),
        "fix": (Traits(needs_model=True, takes_failures=True), True, False, False),
        "sample": (Traits(needs_model=True), False, False, True),
        "reflect": (Traits(needs_model=True, makes_notes=True), False, True, False),
    }


def test_factories_make_operators_without_settings() -> None:
    """Every setting has a default."""
    made = [type(entry.factory({})) for entry in register_operators()]
    assert made == [TuneLiterals, MutateAst, PerturbLiterals, *[ProgramWriter] * 5, Reflect]
