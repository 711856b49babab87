"""The bundled operators as the engine finds them."""

from evolve.operators import register_operators
from evolve.operators.mutate_ast import MutateAst
from evolve.operators.perturb_literals import PerturbLiterals
from evolve.operators.tune_literals import TuneLiterals


def test_what_is_registered() -> None:
    """The learning one is embedded, the baselines' one is history-free, and the structural one is both where judging is quick."""
    found = {
        entry.name: (entry.embedded, entry.history_free, entry.embedded_below_seconds, entry.embedded_suffixes)
        for entry in register_operators()
    }
    assert found == {
        "tune_literals": (True, False, None, ()),
        "mutate_ast": (True, True, 1.0, (".py",)),
        "perturb_literals": (False, True, None, ()),
    }


def test_factories_make_operators_without_settings() -> None:
    """Every setting has a default."""
    made = [type(entry.factory({})) for entry in register_operators()]
    assert made == [TuneLiterals, MutateAst, PerturbLiterals]
