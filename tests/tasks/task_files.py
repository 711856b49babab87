"""A task's judging files, imported from its folder as a judge imports them.

Two tasks may have files of one name, and a judge serves one task; so each task gets modules of its own here, and none stays behind."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

TASKS = Path(__file__).parents[2] / "tasks"


def judging_files(task: str, *wanted: str) -> SimpleNamespace:
    """The modules of a task's folder that are `wanted`, or all but its seed, by their names."""
    folder = TASKS / task
    names = wanted or sorted(path.stem for path in folder.glob("*.py") if path.stem != "seed")
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        return SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
