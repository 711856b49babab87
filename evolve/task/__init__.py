"""Tasks as folders and as single files: where they lie, what they may say, and the `Task` that is read from one.

Invariant: whatever is wrong with one is one `TaskError` that names the file, the key, what was got and what to do."""

from evolve.evaluation.version import READMES, deciding
from evolve.task.folders import bundled, find, is_bundled, is_name, name_of, own, place_of_bundled
from evolve.task.loader import load
from evolve.task.verifier import CERTIFICATE, sentence
from evolve.task.verify_script import SCRIPT as PROOF_SCRIPT
from evolve.task.verify_script import holds as check_proof
from evolve.task.verify_script import script as proof_script

__all__ = [
    "READMES",
    "deciding",
    "place_of_bundled",
    "CERTIFICATE",
    "sentence",
    "PROOF_SCRIPT",
    "check_proof",
    "proof_script",
    "bundled",
    "find",
    "is_bundled",
    "is_name",
    "load",
    "name_of",
    "own",
]
