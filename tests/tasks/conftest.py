"""A task's judging files lie in its folder, which the judge puts on the import path; so do these tests.

Files of different tasks have different names, but for the evaluators: `evaluator` is that of `circle_packing`."""

import sys
from pathlib import Path

TASKS = Path(__file__).parents[2] / "tasks"

sys.path.insert(0, str(TASKS / "circle_packing"))
sys.path.append(str(TASKS / "step_functions"))
