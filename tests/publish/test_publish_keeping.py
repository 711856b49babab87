"""Facts about what is left of a gain on held-out cases."""

import pytest
from exported_here import Found

from evolve.publish.keeping import kept_of, told


@pytest.mark.parametrize(
    ("own", "left"),
    [
        (9.2, "100% of the gain is left on held-out cases"),
        (7.42, "20% of the gain is left on held-out cases, less than half on 'further on'"),
        (7.0, "nothing of the gain is left on held-out cases, less than half on 'further on'"),
    ],
)
def test_the_page_says_how_much_is_left_where_the_search_did_not_look(tmp_path, own, left):
    """The search has gained 1.5 to the seed's 5, which are 30 %; the seed has 7 on the case."""
    found = Found(tmp_path).promoted(own)
    made = found.export()
    assert told(kept_of(made.claims, found.task)) == left
    assert f"| elsewhere | {left} |" in made.contents["README.md"].decode()


def test_where_nothing_was_measured_nothing_is_said(tmp_path):
    found = Found(tmp_path)
    assert told(kept_of(found.export().claims, found.task)) == ""
    assert "elsewhere" not in found.export().contents["README.md"].decode()
