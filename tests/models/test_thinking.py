import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.thinking import parted


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>\na\n</think>\n\nb", "a", "b"),
        ("  <think>a</think>b", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<think>a", "a", ""),
        ("a\n</think>\nb", "a", "b"),
        ("a</think><think>c</think>b", "a\n\nc", "b"),
        ("<think></think>b", "", "b"),
        ("Sure.\n<think>a</think>\nb", "a", "Sure.\n\nb"),
        ("b", "", "b"),
        ("", "", ""),
    ],
)
def test_thoughts_are_parted_from_the_answer(text: str, thinking: str, answer: str):
    assert parted(text) == (thinking, answer)


@pytest.mark.parametrize(
    "text",
    [
        "```python\nTAG = '<think>'\n```",
        "```python\n<think>\nx\n</think>\n```\n",
        "<<<<<<< SEARCH\n<think>\n=======\n</think>\n>>>>>>> REPLACE",
        "```\nprint('</think>')\n```",
        "It prints <think> and then </think>.",
    ],
)
def test_a_program_that_speaks_of_tags_is_left_whole(text: str):
    assert parted(text) == ("", text)


@given(st.text().filter(lambda text: "think" not in text and "reasoning" not in text))
def test_a_text_without_tags_is_the_answer(text: str):
    assert parted(text) == ("", text)


@given(st.text(alphabet="ab \n", min_size=1), st.text(alphabet="cd \n"))
def test_what_stands_before_the_closing_tag_is_never_in_the_answer(thought: str, answer: str):
    assert parted(f"<think>{thought}</think>{answer}") == (thought.strip(), answer.strip())


def test_a_model_that_thinks_in_circles_is_parted_in_one_pass():
    """Its text would be gone through once for each of a hundred thousand thoughts."""
    thinking, answer = parted("<think>\na\n</think>\n" * 100_000 + "b")
    assert (len(thinking.split()), answer) == (100_000, "b")
