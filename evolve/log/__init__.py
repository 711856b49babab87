"""The log of a campaign and the cache of evaluations: everything that the engine keeps on disk.

The log is the only state; whatever else there is can be thrown away and made again."""

from evolve.log.cache import EvaluationCache
from evolve.log.lock import Locked, writer
from evolve.log.log import Log, begin, copy

__all__ = ["EvaluationCache", "Locked", "Log", "begin", "copy", "writer"]
