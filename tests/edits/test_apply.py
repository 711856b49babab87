"""Lines that stand for code which is left out, and lines that only sound like it."""

import pytest

from evolve.edits.apply import find_elision

LEFT_OUT = """
...
# ...
# ... existing code ...
# rest of the code unchanged
# Rest of the code remains the same
// ... rest of implementation ...
# ... (rest unchanged)
# (remaining functions unchanged)
# same as before
# unchanged
# [previous code]
[... rest of file ...]
... rest of code unchanged ...
# Keep the rest of the code as is
/* ... */
# forces() unchanged
# other functions remain unchanged
# the rest of the function stays the same
# existing code here
# (code omitted for brevity)
# Your code here
# The remaining part of the program is unchanged
# ... keep existing imports ...
# implementation unchanged
# ... other helper functions ...
<rest of code>
-- rest of the code
# Everything else stays the same
# everything below is unchanged
# (rest of the code as in the original program)
# The rest is identical to the parent program
# Other functions remain the same as in the parent
# helper functions (unchanged)
# No changes below this line
# snip
""".strip().splitlines()
MEANT = """
# compute forces ...
# the rest of the circles stay in place
# radii unchanged by this step
# keep the best of both
# same seed for both
x = ...
# start from here...
# ... and then project onto the walls
# previous best
# original radius
# existing overlap is penalised
(a + b)
# below
# loop over circles
# the same for y
# Initial positions of the circles
# previous block
# current line
# body of the loop
return x  # unchanged
pass  # no change
pass  # same as before
everything = list(circles)
# everything else is a constraint
# no changes of sign
""".strip().splitlines()


@pytest.mark.parametrize("line", LEFT_OUT)
def test_a_line_that_leaves_out(line: str) -> None:
    """In any language's comment, and without one."""
    assert find_elision(["x = 1", f"    {line}"], ()) == line


@pytest.mark.parametrize("line", MEANT)
def test_a_line_that_is_meant(line: str) -> None:
    """A comment about the program is none about the text."""
    assert find_elision([line], ()) == ""


def test_what_the_program_has_already_is_its_own() -> None:
    """A stub stays a stub."""
    assert find_elision(["    ..."], {"..."}) == ""
