"""The operators whose children a model writes, and the one that writes lessons."""

from evolve.operators.written.crossover import Crossover
from evolve.operators.written.diff import Diff, DiffSettings
from evolve.operators.written.fix import Fix
from evolve.operators.written.reflect import Reflect, ReflectSettings
from evolve.operators.written.rewrite import Rewrite
from evolve.operators.written.settings import WritingSettings

__all__ = ["Crossover", "Diff", "DiffSettings", "Fix", "Reflect", "ReflectSettings", "Rewrite", "WritingSettings"]
