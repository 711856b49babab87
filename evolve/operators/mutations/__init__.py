"""The single edits that `mutate_ast` is made of, with how often each is tried.

Invariant: an edit knows nothing of blocks, of the campaign and of whether it is worth anything; what it makes is checked by whoever
applies it."""

from collections.abc import Mapping

from evolve.operators.mutations import conditions, expressions, functions, statements
from evolve.operators.mutations.material import Find, Material

WEIGHTS: Mapping[Find, float] = {
    expressions.another_operator: 4,
    expressions.another_augmented_operator: 1,
    expressions.another_constant: 3,
    expressions.another_name: 4,
    expressions.another_function: 3,
    expressions.swapped_operands: 2,
    expressions.extended: 5,
    expressions.wrapped: 4,
    expressions.substituted: 5,
    expressions.reduced: 5,
    conditions.negated: 1,
    conditions.another_comparison: 2,
    conditions.conjoined: 2,
    conditions.disjoined: 2,
    statements.deleted: 3,
    statements.doubled: 1,
    statements.swapped_neighbours: 2,
    statements.into_an_if: 1,
    statements.into_the_next_if: 1,
    statements.out_of_an_if: 1,
    statements.inserted: 3,
    statements.another_assignment: 3,
    functions.another_body: 2,
}
"""Shares, in no unit. What makes a program larger and what makes it smaller are about as likely."""

__all__ = ["WEIGHTS", "Find", "Material"]
