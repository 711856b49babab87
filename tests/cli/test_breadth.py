"""Tables and sentences that are no broader than a terminal."""

from evolve.cli.breadth import broken, narrow


def test_a_table_that_fits_is_one():
    """As any other."""
    assert narrow(("a", "b"), [("1", "2")], 6) == "a  b\n1  2"


def test_a_broader_table_is_parts_that_begin_with_the_first_column():
    """No cell is left out."""
    told = narrow(("arm", "one", "two", "three"), [("x", "1", "2", "3")], 13)
    assert told == "arm  one  two\nx    1    2\n\narm  three\nx    3"


def test_a_column_that_never_fits_stands_alone():
    """Beside the first."""
    assert narrow(("arm", "a long heading", "b"), [], 10) == "arm  a long heading\n\narm  b"


def test_a_table_of_one_column_stays():
    """There is nothing to stand beside."""
    assert narrow(("a heading",), [("x",)], 4) == "a heading\nx"


def test_a_sentence_is_broken_between_words_and_then_indented():
    """A long word stays whole."""
    assert broken("one two online-bin-packing", 8) == "one two\n  online-bin-packing"
