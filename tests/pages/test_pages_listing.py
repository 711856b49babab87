"""Which lines of a file may change."""

from evolve.pages.document import Code, Paragraph
from evolve.pages.listing import listing, open_lines

TEXT = "import x\n# EVOLVE-BLOCK-START\na = 1\nb = 2\n# EVOLVE-BLOCK-END\nc = 3\n"


def test_the_lines_of_blocks_are_open() -> None:
    assert open_lines("a.py", TEXT) == {3, 4}
    assert open_lines("a.py", "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\n") == set()


def test_a_file_without_blocks_has_no_marks() -> None:
    blocks = list(listing({"a.py": "x = 1\n"}, {}))
    assert blocks == [Code("a.py", "x = 1\n")]


def test_marks_are_explained() -> None:
    explained, code = listing({"a.py": TEXT}, {"a.py": ["1"] * 6})
    assert isinstance(explained, Paragraph)
    assert code == Code("a.py", TEXT, frozenset({3, 4}), ("1",) * 6)
