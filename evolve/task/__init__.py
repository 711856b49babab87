"""Task folders: where they lie, what their `task.toml` may say, and the `Task` that is read from one.

Invariant: whatever is wrong with a folder is one `TaskError` that names the file, the key, what was got and what to do."""

from evolve.task.folders import bundled, find, is_bundled
from evolve.task.loader import load

__all__ = ["bundled", "find", "is_bundled", "load"]
