"""Tasks as folders and as single files: where they lie, what they may say, and the `Task` that is read from one.

Whatever is wrong with one is one `TaskError` that names the file, the key, what was got and what to do."""

from evolve.evaluation.provenance import READMES, deciding
from evolve.task.folders import find, is_bundled, is_name, list_bundled, list_tasks, name_of, place_of_bundled
from evolve.task.loader import load
from evolve.task.verifier import CERTIFICATE, PROOF_SCRIPT, check_proof, proof_script, read_sentence

__all__ = [
    "CERTIFICATE",
    "PROOF_SCRIPT",
    "READMES",
    "list_bundled",
    "check_proof",
    "deciding",
    "find",
    "is_bundled",
    "is_name",
    "load",
    "name_of",
    "list_tasks",
    "place_of_bundled",
    "proof_script",
    "read_sentence",
]
