"""Archive of good programs: islands of MAP-Elites cells, folded from records; pure, without clock, files or global randomness."""

from evolve.archive.archive import Archive
from evolve.archive.values import ArchiveSettings, Elite, Estimate, Stats

__all__ = ["Archive", "ArchiveSettings", "Elite", "Estimate", "Stats"]
