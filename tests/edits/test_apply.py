"""Lines that stand for code which is left out, lines that only sound like it, and the files that edits mean."""

import pytest

from evolve.edits import EditFailed, EditKind
from evolve.edits.apply import find_elision, resolve_path

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


def test_a_folder_too_many_is_forgiven_where_it_is_certain() -> None:
    """Otherwise the files that there are, are told."""
    assert resolve_path("b/src/seed.py", ["seed.py", "x.py"], ()) == "seed.py"
    assert resolve_path("seed.py", ["lib/seed.py"], ()) == "lib/seed.py"
    with pytest.raises(EditFailed, match=r"The program has a/f.py, b/f.py, and no new ones. Try: name one") as failed:
        resolve_path("f.py", ["a/f.py", "b/f.py"], ())
    assert failed.value.kind == EditKind.UNKNOWN_FILE


@pytest.mark.parametrize("path", ["../seed.py", "sub/../seed.py", "a/../../seed.py", "../new.py"])
def test_a_path_that_climbs_is_no_file_of_a_program(path: str) -> None:
    """Where it ends up is not asked."""
    with pytest.raises(EditFailed) as failed:
        resolve_path(path, ["seed.py"], ("*.py", "**/*.py"))
    assert failed.value.kind == EditKind.UNKNOWN_FILE
