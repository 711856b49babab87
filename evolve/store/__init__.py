"""The log of a campaign and the cache of evaluations: everything that the engine keeps on disk.

Invariant: the log is the only state; whatever else there is can be thrown away and made again."""

from evolve.store.beginning import begin
from evolve.store.cache import EvaluationCache
from evolve.store.copying import copy
from evolve.store.lock import Locked, writer
from evolve.store.log import Log

__all__ = ["EvaluationCache", "Locked", "Log", "begin", "copy", "writer"]
