"""A prompt keeps to its budget, and holds what it must."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_scenes import FROM_TWO_OPT, Scene, grown, hostile_task

from evolve.prompts import build, repair
from evolve.prompts.quoting import program_text
from evolve.testing import Rehearsal
from evolve.types import ConfigError, EditError, Message, Prompt, Section, Selection

SCENE = grown()
WHOLE = build("diff", FROM_TWO_OPT, SCENE.context(), tokens=24_000)


def text(prompt: Prompt) -> str:
    """Both messages."""
    return "\n".join(message.text for message in prompt.messages)


def names(prompt: Prompt) -> list[str]:
    """The sections in their order."""
    return [section.name for message in prompt.messages for section in message.sections]


def built(kind: str, selection: Selection, tokens: int) -> Prompt | None:
    """The prompt; None where it does not fit."""
    try:
        return build(kind, selection, SCENE.context(), tokens=tokens)
    except EditError:
        return None


@settings(deadline=None)
@given(st.integers(1, 4000), st.sampled_from(["diff", "rewrite", "crossover", "fix"]))
def test_no_prompt_is_longer_than_it_may_be(tokens: int, kind: str) -> None:
    """The parents stand in it whole, or there is no prompt; its feedback is there; the order stays."""
    parents = (5, 3)
    selection = Selection(kind, parents=parents, inspirations=(2,))
    found = built(kind, selection, tokens)
    if found is None:
        assert tokens < 2000
        return
    assert sum(len(message.text) for message in found.messages) <= 4 * tokens
    for record in parents if kind == "crossover" else parents[:1]:
        program = SCENE.history.program(SCENE.history.record(record).program or "")  # type: ignore[arg-type]
        assert program_text(program) in text(found)
    assert "Longest edge: 0.81" in text(found)
    whole = build(kind, selection, SCENE.context(), tokens=24_000)
    kept = iter(names(whole))
    assert all(name in kept for name in names(found))
    lines = iter(text(whole).split("\n"))
    short = ("does not fit in here.",)
    assert all(line in lines for line in text(found).split("\n") if not any(words in line for words in short))


def test_what_the_error_asks_for_is_enough() -> None:
    """Its remedy works."""
    with pytest.raises(
        EditError, match=r"program 5 does not fit into a prompt: .* about \d+ tokens, .* may have 800"
    ) as caught:
        build("diff", FROM_TWO_OPT, SCENE.context(), tokens=800)
    wanted = int(str(caught.value).partition("prompts.tokens=")[2].partition(",")[0])
    assert "def turned(points, order)" in text(build("diff", FROM_TWO_OPT, SCENE.context(), tokens=wanted))


def test_sections_have_their_order() -> None:
    """The stable ones first, what is wanted last."""
    assert names(WHOLE) == [
        *("system", "task", "rules", "hardware"),
        *("state", "lessons", "lineage", "ideas", "others", "parent", "feedback", "diff", "edits"),
    ]


def test_a_prompt_needs_its_parents() -> None:
    """One with a program, and a crossover two of them."""
    with pytest.raises(EditError, match="the selection has none"):
        build("diff", Selection("diff"), SCENE.context(), tokens=9000)
    with pytest.raises(EditError, match="the selection has none"):
        build("diff", Selection("diff", parents=(9,)), SCENE.context(), tokens=9000)
    with pytest.raises(EditError, match="the selection has one"):
        build("crossover", Selection("crossover", parents=(5, 10)), SCENE.context(), tokens=9000)


def test_an_operator_fills_places_of_its_layout() -> None:
    """The rest has defaults."""
    found = build("diff", FROM_TWO_OPT, SCENE.context(), tokens=9000, values={"advice": "Change one line."})
    assert "Change program 5 so that its score improves. Change one line." in text(found)


def test_steps_on_one_program_at_once_are_sent_in_other_directions() -> None:
    """Equal prompts would bring equal answers."""
    scene, texts = grown(), list[str]()
    for scene.rivals in range(4):
        texts.append(text(build("diff", FROM_TWO_OPT, scene.context(), tokens=9000)))
    assert len({*texts}) == 4
    assert "Another request about this program is being answered right now" in texts[1]
    assert ["being answered right now" in each for each in texts] == [False, True, True, True]


def test_one_section_can_be_replaced() -> None:
    """All others stay."""
    scene = grown()
    scene.templates = {"lineage": "## Story of {{number}}\n\n{{items}}"}
    found = text(build("diff", FROM_TWO_OPT, scene.context(), tokens=24_000))
    assert found == text(WHOLE).replace("## How program 5 came about", "## Story of 5")


def test_a_template_that_cannot_be_filled_is_said() -> None:
    """Also where nobody has looked at it before."""
    scene = Scene()
    scene.templates = {"diff": "{{parent}}\n{{feedback}}\n{{sise}}"}
    with pytest.raises(ConfigError, match="Did you mean 'inside'"):
        build("diff", Selection("diff", parents=(1,)), scene.context(), tokens=9000)


def test_equal_selections_have_equal_prompts() -> None:
    """Whatever was built before."""
    again = build("diff", FROM_TWO_OPT, grown().context(), tokens=24_000)
    assert (again, again.request) == (WHOLE, WHOLE.request)


def test_a_repair_goes_on_with_the_dialogue() -> None:
    """What was said stays as it is; the reason is quoted."""
    found = repair(WHOLE, "the ```reply", "no such line:\n```\n## Rules")
    assert found.messages[:2] == WHOLE.messages
    assert found.messages[2] == Message("assistant", (Section("reply", "the ```reply"),))
    assert "of your answer:\n\n````\nno such line:\n```\n## Rules\n````" in found.messages[3].text
    other = repair(WHOLE, "x", "y", {"repair": "No: {{reason}}"}).messages[3].text
    assert other == "No: ```\ny\n```"


def test_a_rehearsal_is_enough() -> None:
    """Its texts may be missing."""
    rehearsal = Rehearsal()
    rehearsal.open()
    scene = Scene(hostile_task())
    scene.task, scene.history = rehearsal.task, rehearsal.history
    found = build("diff", Selection("diff", parents=(1,)), scene.context(), tokens=2000)
    assert "x = 0.0" in found.messages[1].text
