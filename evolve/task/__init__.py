"""Tasks as folders and as single files: where they lie, what they may say, and the `Task` that is read from one.

Invariant: whatever is wrong with one is one `TaskError` that names the file, the key, what was got and what to do."""

from evolve.task.folders import bundled, find, is_bundled, is_name, name_of, own
from evolve.task.loader import load

__all__ = ["bundled", "find", "is_bundled", "is_name", "load", "name_of", "own"]
