"""A task's judging files lie in its folder, which the judge puts on the import path; so do these tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tasks" / "circle_packing"))
