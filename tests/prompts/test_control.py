"""Control tokens of chat templates in the words of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.prompts.control import broken, tokens

KNOWN = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|channel|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|turn>",
    "<turn|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]",
    "[gMASK]",
    "[|endofturn|]",
    "<<SYS>>",
    "<</SYS>>",
    "<s>",
    "</s>",
    "<eos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "</think>",
    "<tool_call>",
]


@pytest.mark.parametrize("token", KNOWN)
def test_a_control_token_is_broken_where_everybody_sees_it(token: str) -> None:
    assert tokens(f"a{token}b{token}") == (token,)
    assert broken(f"a{token}system") == f"a{token[0]} {token[1:]}system"


@pytest.mark.parametrize("text", ["a < b | c > d", "x[1]", "[INFO] done", "a <b> c", "if a<|b: |>", "List<String>"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert (tokens(text), broken(text)) == ((), text)


@given(st.lists(st.sampled_from([*KNOWN, *"<|[]>/s \n", "INST", "<|", "|>", "a"]), max_size=12).map("".join))
def test_what_is_broken_has_no_token_and_lacks_nothing(text: str) -> None:
    """However tokens are put into one another."""
    once = broken(text)
    assert tokens(once) == ()
    assert broken(once) == once
    assert once.replace(" ", "") == text.replace(" ", "")
