"""The evaluator `recipe`: a program trains a classifier on what the evaluator serves, and is scored on inputs whose labels it never gets. See
`docs/evaluators.md`.

A plugin as a third party would write it. Importing it reads no data."""

from collections.abc import Sequence

from evolve.hookspecs import EvaluatorEntry, hookimpl
from evolve_recipe.recipe import Recipe
from evolve_recipe.settings import RecipeSettings


@hookimpl
def register_evaluators() -> Sequence[EvaluatorEntry]:
    """`recipe`."""
    return (EvaluatorEntry("recipe", Recipe, RecipeSettings),)
