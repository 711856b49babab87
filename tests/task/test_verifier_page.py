"""The verifier that docs/tasks.md shows is one."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from evolve.task.verifier import check_verifier

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")


def test_the_example_of_the_page_is_a_verifier() -> None:
    """It proves what holds, and refuses what does not, with the reason."""
    (text,) = [
        block for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "PROVES" in block
    ]
    check_verifier(Path("verifier.py"), text)
    names: dict[str, object] = {}
    exec(text, names)
    proven = names["proven"]
    assert callable(proven)
    assert proven({"numbers": ["1/2", "1/3"]}, {"n": 2}) == Fraction(5, 6)
    for numbers, reason in ((["1", "1"], "equal"), (["1"], "there are 1 numbers"), (["1e9", "2"], "no exact number")):
        with pytest.raises(ValueError, match=reason):
            proven({"numbers": numbers}, {"n": 2})
