"""Programs that leave the machine: exported, published, verified.

Invariant: what is exported can be judged again from nothing but itself and this package."""

from evolve.publish.again import Judges
from evolve.publish.archive import Published, check_place, publish, published
from evolve.publish.claims import Claims, claims_of
from evolve.publish.contents import Contents, check_files
from evolve.publish.export import Export, export
from evolve.publish.findings import AGREES, CANNOT_BE_TOLD, DIFFERS, Check, Verification, worst
from evolve.publish.folder import read, write
from evolve.publish.index import INDEX, check_index, index, renew, write_index
from evolve.publish.verify import How, OpenJudges, known_task, verify

__all__ = [
    "AGREES",
    "CANNOT_BE_TOLD",
    "DIFFERS",
    "INDEX",
    "Check",
    "Claims",
    "Contents",
    "Export",
    "How",
    "Judges",
    "OpenJudges",
    "Published",
    "Verification",
    "check_files",
    "check_index",
    "check_place",
    "claims_of",
    "export",
    "index",
    "known_task",
    "publish",
    "published",
    "read",
    "renew",
    "verify",
    "worst",
    "write",
    "write_index",
]
