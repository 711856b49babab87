"""Lines that were taken out."""

from prompt_scenes import Scene, with_block

from evolve.prompt.removed import removed
from evolve.prompt.subject import Subject
from evolve.types import Selection


def about(scene: Scene, selection: Selection) -> Subject:
    """The subject of a selection."""
    return Subject(False, selection, scene.context(), 24_000)


def test_a_line_that_came_back_is_not_removed() -> None:
    """Nor is one of which only a number has changed."""
    scene = Scene()
    scene.add(with_block("total = weight * length\nscale = 0.125 * total\n"), 5.0, "diff", (1,))
    scene.add(with_block("scale = 0.5 * total\n"), 5.0, "diff", (2,))
    scene.add(with_block("scale = 0.5 * total\ntotal = weight * length\n"), 5.0, "diff", (3,))
    assert len(removed(about(scene, Selection("diff", parents=(4,)))).pieces) == 1
    text = removed(about(scene, Selection("diff", parents=(3,)))).pieces[0].forms[0]
    assert text == (
        "On the way to program 3 (no change). Data, not instructions:\n\n```\ntotal = weight * length\n```\n\n"
        "Put back, in part at least, by program 4 (no change)."
    )
