"""A person's marks: in a file of their own beside the log."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from evolve.store.comments import Comment, Comments, Marks, bearing
from evolve.types import ConfigError, StoreError


@pytest.fixture
def comments(tmp_path: Path) -> Comments:
    return Comments(tmp_path / "mine.db")


def test_nothing_is_made_before_the_first_mark(comments: Comments) -> None:
    """To read marks makes no file; the first one makes it, for its owner alone."""
    assert (comments.of(1), dict(comments.marked()), comments.path.exists()) == (Marks(), {}, False)
    comments.star(3, True)
    assert (comments.path.name, comments.path.stat().st_mode & 0o777) == ("mine.comments.db", 0o600)


def test_what_was_marked_is_read_back(comments: Comments) -> None:
    """Twice is once; tags in their order, comments in theirs."""
    for _ in range(2):
        comments.star(3, True)
        comments.tag(3, " odd ", True)
    comments.tag(3, "a", True)
    comments.comment(3, "first", "ann", 10.0)
    comments.comment(3, "second\nline", "bob", 5.0)
    comments.star(7, True)
    wanted = Marks(True, ("a", "odd"), (Comment(10.0, "ann", "first"), Comment(5.0, "bob", "second\nline")))
    assert comments.of(3) == wanted
    assert comments.marked() == {3: wanted, 7: Marks(True)}


def test_what_was_marked_can_be_taken_back(comments: Comments) -> None:
    """Again, where it is gone already; a record without marks is not among those that have some."""
    comments.star(3, True)
    comments.tag(3, "odd", True)
    comments.comment(3, "x", "ann", 10.0)
    for _ in range(2):
        comments.star(3, False)
        comments.tag(3, "odd", False)
        comments.remove(3, 10.0)
    assert comments.marked() == {}


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", "'; DROP TABLE comments; --", "\x1b[2J", "\u202e", "x" * 10_000]
)
def test_hostile_text_is_kept_as_it_is(comments: Comments, text: str) -> None:
    """Whoever shows it escapes it."""
    comments.comment(1, text, text[:50], 1.0)
    assert comments.of(1).comments == (Comment(1.0, text[:50], text),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x" * 10_001, "a text of 1 to 10,000 characters, got 10,001. Do: "),
        ("  ", "got an empty one. Do: "),
        ("a\0b", "a text in UTF-8"),
        ("\ud800", "a text in UTF-8"),
    ],
)
def test_what_is_no_comment_is_refused(comments: Comments, text: str, message: str) -> None:
    """With what to do."""
    with pytest.raises(ConfigError) as error:
        comments.comment(1, text, "ann", 1.0)
    assert message in str(error.value)
    assert comments.marked() == {}


@pytest.mark.parametrize("tag", ["", "x" * 61, "two\nlines", "\x1b[2J"])
def test_what_is_no_tag_is_refused(comments: Comments, tag: str) -> None:
    """One line that can be printed."""
    with pytest.raises(ConfigError, match="a tag is one line of 1 to 60 characters"):
        comments.tag(1, tag, True)


def test_many_may_write_at_once(comments: Comments) -> None:
    """Also where all of them make the file."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Comments(comments.path.with_name("mine.db")).star(number, True), range(1, 41)))
    assert list(comments.marked()) == list(range(1, 41))


def test_a_file_that_holds_no_marks_is_an_error(comments: Comments) -> None:
    """It is not written over."""
    comments.path.write_text("notes of mine, which are no database" * 100)
    with pytest.raises(StoreError, match=r"holds no marks, or is damaged\. Do: move it away"):
        comments.marked()
    with pytest.raises(StoreError):
        comments.star(1, True)
    comments.path.unlink()
    with closing(sqlite3.connect(comments.path)) as other:
        other.execute("CREATE TABLE x (y)")
    with pytest.raises(StoreError, match="holds no marks"):
        comments.of(1)


def test_a_link_and_a_file_of_another_user_are_not_opened(comments: Comments, tmp_path: Path) -> None:
    """They may lead anywhere."""
    elsewhere = Comments(tmp_path / "elsewhere.db")
    elsewhere.star(1, True)
    comments.path.symlink_to(elsewhere.path)
    with pytest.raises(StoreError, match=r"is no file of this user\. Do: move it away"):
        comments.star(2, True)
    if os.getuid() == 0:
        os.chown(elsewhere.path, 12345, 12345)
        with pytest.raises(StoreError, match="is no file of this user"):
            elsewhere.marked()


@pytest.mark.parametrize(
    ("starred", "tag", "found"),
    [
        (True, "", {1, 3}),
        (False, "fast", {2, 3}),
        (True, "fast", {3}),
        (False, "", {1, 2, 3, 4}),
        (False, "fas", set()),
    ],
)
def test_records_are_chosen_by_star_and_tag(comments: Comments, starred: bool, tag: str, found: set[int]) -> None:
    """Both where both are wanted; a tag is the whole of it."""
    for record in (1, 3):
        comments.star(record, True)
    for record in (2, 3):
        comments.tag(record, "fast", True)
    comments.comment(4, "look", "me", 1.0)
    assert bearing(comments.marked(), starred=starred, tag=tag) == found
