"""Fixed Gaussian steps on a few numbers."""

import pytest
from operator_fakes import Past, context_of

from evolve.operators.literals import template
from evolve.operators.perturb_literals import PerturbLiterals, PerturbSettings
from evolve.protocols import Context
from evolve.types import EditError, Program, Selection

SELECTION = Selection("perturb_literals", parents=(1,))


def values_of(
    past: Past, context: Context, selection: Selection = SELECTION, sigma: float = 1.0
) -> list[tuple[float, ...]]:
    """The values of the children of one proposal."""
    children = PerturbLiterals(PerturbSettings(sigma=sigma)).propose(selection, context)
    assert all(child.extras == {} for child in children)
    return [template(child.program).values for child in children if child.program]


def test_the_same_step_makes_the_same_children() -> None:
    """A child follows from the parent and the step's random numbers; other numbers, another child."""
    past = Past()
    past.settle(Program({"a.py": "x = [0.5, 0.25, 3.5]"}), 1.0)
    first, again, other = (values_of(past, context_of(past, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_as_many_children_as_are_wanted() -> None:
    """Each differs from the parent."""
    past = Past()
    past.settle(Program({"a.py": "x = [0.5, 0.25, 3.5]"}), 1.0)
    found = values_of(past, context_of(past, 1), Selection("perturb_literals", parents=(1,), samples=5))
    assert len(found) == 5
    assert (0.5, 0.25, 3.5) not in found


def test_from_one_literal_to_all_change() -> None:
    """Log-uniform: a single one is common, and all happen."""
    past = Past()
    parent = tuple(0.5 + number for number in range(8))
    past.settle(Program({"a.py": f"x = {list(parent)}"}), 1.0)
    found = [values_of(past, context_of(past, seed))[0] for seed in range(300)]
    changed = [sum(old != new for old, new in zip(parent, values, strict=True)) for values in found]
    assert (min(changed), max(changed)) == (1, 8)
    assert sum(count <= 3 for count in changed) > sum(count > 3 for count in changed)


@pytest.mark.parametrize(("text", "seed"), [("n = 5", seed) for seed in range(8)] + [("n = 2", 1), ("n = -2", 1)])
def test_integers_take_steps_of_at_least_one(text: str, seed: int) -> None:
    """Rounding never swallows a step, at the end of the range neither."""
    past = Past()
    past.settle(Program({"a.py": text}), 1.0)
    (value,) = values_of(past, context_of(past, seed), sigma=0.01)[0]
    assert isinstance(value, int)
    assert abs(value - int(text.split("= ")[1])) == 1


def test_a_literal_at_the_end_of_its_range_is_an_error() -> None:
    """What cannot change says so: a step far below the last digit."""
    past = Past()
    past.settle(Program({"a.py": "x = [1e29, 1e29, 1e29, 1.0]"}), 1.0)
    operator = PerturbLiterals(PerturbSettings(sigma=1e-60))
    with pytest.raises(EditError, match=r"no step of 16 changed"):
        operator.propose(SELECTION, context_of(past, 1))


def test_without_a_literal_or_a_parent_it_says_what_to_do() -> None:
    """Both are edit errors."""
    past = Past()
    past.settle(Program({"a.py": "x = 0"}), 1.0)
    operator = PerturbLiterals(PerturbSettings())
    with pytest.raises(EditError, match=r"no numeric literal to tune in a\.py\. Try: "):
        operator.propose(SELECTION, context_of(past, 1))
    with pytest.raises(EditError, match=r"the selection has none\. Try: select a parent"):
        operator.propose(Selection("perturb_literals"), context_of(past, 1))
