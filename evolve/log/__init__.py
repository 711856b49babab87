"""The log of a campaign: everything that the engine keeps on disk.

The log is the only state; whatever else there is can be thrown away and made again."""

from evolve.log.lock import Locked, writer
from evolve.log.log import Log, begin, copy

__all__ = ["Locked", "Log", "begin", "copy", "writer"]
