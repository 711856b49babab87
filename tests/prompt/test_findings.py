"""What the evaluator found of the parent."""

from prompt_scenes import NEAREST, Scene, failed, with_block

from evolve.prompt.findings import feedback
from evolve.prompt.subject import Subject
from evolve.types import Outcome, Selection


def about(scene: Scene, selection: Selection) -> Subject:
    """The subject of a selection."""
    return Subject(False, selection, scene.context(), 24_000)


def test_feedback_is_always_there_in_short_at_least() -> None:
    """However long it is."""
    scene = Scene()
    words = scene.store("words", "".join(f"Line {n} of what it said.\n" for n in range(5000)))
    number = scene.add(with_block(NEAREST), failed(Outcome.WRONG, words), "diff", (1,))
    piece = feedback(about(scene, Selection("fix", parents=(number,)))).pieces[0]
    assert [len(form) // 100 for form in piece.forms] == [192, 8]
    assert all("Line 0 of" in form and "Line 4999 of" in form for form in piece.forms)
