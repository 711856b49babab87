"""What a program wrote, as files to download."""

import pytest

from evolve.types import Outcome
from tests.plugins.evolve_view.hostile import EVIL, text_of
from tests.written import Written


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    home = tmp_path_factory.mktemp("kept")
    written = Written(home, name="kept")
    written.seed()
    with written.campaign.log.transaction():
        text = written.campaign.log.put_text("<script>alert(1)</script>")
    written.proposal(6.0, artifacts={"../../etc/passwd\r\nx: y": text, ".hidden": text})
    written.failure(Outcome.WRONG, "<html>no</html>")
    written.campaign.close()
    return home


@pytest.mark.parametrize(
    ("path", "name", "text"),
    [
        ("2/artifacts/0", "kept-2-.._.._etc_passwd__x__y.json", "<script>alert(1)</script>"),
        ("2/artifacts/1", "kept-2-.hidden.json", "<script>alert(1)</script>"),
        ("2/files/0", "kept-2-seed.py", "def value():\n    return 6.0\n"),
        ("3/feedback", "kept-3-feedback.txt", "<html>no</html>"),
        ("1/feedback", "kept-1-feedback.txt", ""),
    ],
)
def test_a_text_is_a_file_that_no_browser_shows_under_a_harmless_name(browse, kept, path, name, text):
    answer = browse(kept).get(f"/c/kept/programs/{path}")
    assert answer.status_code == 200
    assert answer.text == text
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["2/artifacts/2", "2/artifacts/x", "2/files/1", "2/files/..%2f..", "9/feedback", "9/files/0"]
)
def test_what_there_is_not_is_said(browse, kept, path):
    answer = browse(kept).get(f"/c/kept/programs/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert text_of(answer.text)


def test_hostile_names_of_artifacts_and_files_are_letters_in_the_header(browse, hostile):
    client = browse(hostile)
    for path in ("3/artifacts/0", "3/files/0"):
        header = client.get(f"/c/hostile/programs/{path}").headers["content-disposition"]
        name = header.removeprefix('attachment; filename="').removesuffix('"')
        assert all(sign.isascii() and (sign.isalnum() or sign in "._-") for sign in name)
        assert len(name) <= 100


def test_the_seeds_texts_are_exactly_what_is_stored(browse, hostile):
    client = browse(hostile)
    text = client.get("/c/hostile/programs/3/files/0").content.decode("utf-8", "surrogatepass")
    assert EVIL in text
