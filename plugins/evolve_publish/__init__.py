"""`evolve program export`, `verify` and `publish`: programs that leave the machine with everything that their scores rest on. docs/inspecting.md explains them."""

from evolve_publish.export import Export, export_program
from evolve_publish.files import read, write
from evolve_publish.verify import Verifier, verify

__all__ = ["Export", "Verifier", "export_program", "read", "verify", "write"]
