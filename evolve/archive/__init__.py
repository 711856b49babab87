"""Archive of good programs: islands of MAP-Elites cells, folded from records; pure, without clock, files or global randomness."""

from evolve.archive.archive import Archive, Elite, Stats
from evolve.archive.contests import ArchiveSettings
from evolve.archive.evidence import Estimate

__all__ = ["Archive", "ArchiveSettings", "Elite", "Estimate", "Stats"]
