"""The page of what plugins are given is that of today's docstrings."""

import ast
import inspect

from evolve.testing import rehearsal
from tests import values_page


def test_the_page_in_the_documentation_is_that_of_today() -> None:
    """`python -m tests.values_page` makes it."""
    assert values_page.PAGE.read_text("utf-8") == values_page.write_page()


def test_each_class_on_it_says_what_it_is() -> None:
    names = [name for _, names in values_page.GROUPS.values() for name in names]
    assert len(set(names)) == len(names)
    for name in names:
        assert inspect.cleandoc(values_page.find(name).__doc__ or "").endswith(".")


def test_what_a_rehearsed_history_answers_is_on_it() -> None:
    """A test of a strategy asks this one."""
    tree = ast.parse(inspect.getsource(rehearsal.RehearsedHistory)).body[0]
    assert isinstance(tree, ast.ClassDef)
    page = values_page.describe("History")
    public = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert [name for name in public if f"`{name}(" not in page] == ["add"]
