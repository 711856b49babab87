"""Pictures of results, on demand."""

import pytest

from evolve import task
from evolve.evaluation import Job
from evolve_view.pictures import Gallery, draw_sentence
from tests.plugins.evolve_view.hostile import text_of
from tests.written import Written

pytestmark = pytest.mark.integration

FILES = {
    "task.toml": 'schema = 1\nevaluator = "evaluator.py"\nprogram = { files = ["seed.py"], entry = "seed" }\n',
    "seed.py": "def value():\n    return 5\n",
    "README.md": "Find the number.\n",
    "evaluator.py": """
from evolve import Evaluation, evaluator

@evaluator
def evaluate(candidate, trial):
    return Evaluation.ok(1.0)

@evaluate.draw
def draw(artifacts, trial):
    if artifacts["numbers"] == [7.0]:
        raise ValueError("<script>no seven</script>")
    return f'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><text>{artifacts["numbers"][0]}</text></svg>'
""",
}


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    """Records 1 (5.0), 2 (6.0) and 3 (7.0) of a task that draws, and refuses to draw the last."""
    home = tmp_path_factory.mktemp("drawing")
    folder = home / "task"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    written = Written(home, task.load(folder), name="drawing")
    written.seed()
    written.proposal(6.0)
    written.proposal(7.0)
    written.proposal(8.0, artifacts={})
    written.campaign.close()
    return home


def test_a_picture_is_drawn_once_and_can_do_nothing(browse, drawing):
    client = browse(drawing)
    assert 'src="/c/drawing/programs/2/picture.svg"' in client.get("/c/drawing/programs/2/picture").text
    answer = client.get("/c/drawing/programs/2/picture.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    assert "<text>6.0</text>" in answer.text
    (drawing / "task" / "evaluator.py").rename(drawing / "task" / "gone.py")
    try:
        assert client.get("/c/drawing/programs/2/picture.svg").text == answer.text
    finally:
        (drawing / "task" / "gone.py").rename(drawing / "task" / "evaluator.py")


def test_the_place_of_a_picture_is_filled_when_the_picture_is_drawn(browse, drawing):
    """No empty card stands on the page meanwhile, but a sentence; the image itself waits for nobody."""
    client = browse(drawing)
    assert "The task is asked for" in client.get("/c/drawing/programs/1").text
    assert "<img" in client.get("/c/drawing/programs/1/picture").text
    (drawing / "task" / "evaluator.py").rename(drawing / "task" / "gone.py")
    try:
        assert "<text>5.0</text>" in client.get("/c/drawing/programs/1/picture.svg").text
    finally:
        (drawing / "task" / "gone.py").rename(drawing / "task" / "evaluator.py")


def test_a_picture_that_fails_is_a_sentence_in_its_place(browse, drawing):
    answer = browse(drawing).get("/c/drawing/programs/3/picture.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    words = " ".join(text_of(answer.text).split())
    assert "no picture" in words
    assert "raised ValueError" in words
    assert "<script" not in answer.text


def test_a_page_does_not_wait_for_its_picture_and_links_to_it(browse, drawing):
    page = browse(drawing).get("/c/drawing/programs/2").text
    assert 'hx-get="/c/drawing/programs/2/picture"' in page
    assert 'href="/c/drawing/programs/2/picture.svg"' in page
    assert "<img" not in page


def test_a_record_without_artifacts_and_a_task_without_pictures_have_none(browse, drawing, looked_at):
    assert browse(drawing).get("/c/drawing/programs/4/picture").text.strip() == ""
    assert browse(drawing).get("/c/drawing/programs/4/picture.svg").status_code == 404
    assert browse(looked_at).get("/c/number/programs/2/picture").text.strip() == ""


def test_a_task_whose_folder_is_gone_has_a_sentence(browse, looked_at):
    assert "no picture" in browse(looked_at).get("/c/number/programs/2/picture.svg").text


def test_a_sentence_is_escaped_and_broken_into_lines():
    picture = draw_sentence("<b> & " + "word " * 30)
    assert "&lt;b&gt; &amp;" in picture
    assert picture.count("<text") > 3


def test_the_folder_of_another_person_is_not_run(drawing):
    """A log from anywhere may name one."""
    loaded = task.load(drawing / "task")
    stranger = Gallery(owners=())
    assert not stranger.draws(loaded)
    assert "another person" in stranger.draw(loaded, "somewhere 1", Job("x", "draw", artifacts={"numbers": "[5.0]"}))
