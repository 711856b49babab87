"""Keys in settings, and what only sounds like one."""

from typing import Any

import pytest

from evolve.types.secrets import place_of_key

KEY = "sk-proj-0123456789abcdef"


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        ({"api_key": "x"}, "api_key"),
        ({"extra": {"api_token": "x"}}, "extra.api_token"),
        ({"headers": {"X-Whatever": KEY}}, "headers.X-Whatever"),
        ({"headers": {"X-Api-Key": "x"}}, "headers.X-Api-Key"),
        ({"argv": ["curl", "-H", f"Authorization: Bearer {KEY}"]}, "argv"),
        ({"model": KEY}, "model"),
        ({"base_url": "http://user:hunter2@127.0.0.1/v1"}, "base_url"),
        ({"extra": {"token": "hf_0123456789abcdefghij"}}, "extra.token"),
    ],
)
def test_a_key_is_found_by_its_name_or_by_its_looks(settings: dict[str, Any], place: str) -> None:
    """However deep it stands."""
    assert place_of_key(settings) == place


@pytest.mark.parametrize(
    "settings",
    [
        {"key_env": "OPENAI_API_KEY"},
        {"model": "hf-internal-testing/tiny-random-LlamaForCausalLM"},
        {"model": "sk-learn-the-very-long-name-of-a-model"},
        {"base_url": "http://127.0.0.1:8000/v1"},
        {"extra": {"skip_special_tokens": True, "stop_token_ids": [1], "api_key": ""}},
        {"argv": ["sh", "-c", 'curl -H "Authorization: Bearer $KEY" http://$USER:$PASSWORD@host']},
    ],
)
def test_what_names_a_key_or_only_sounds_like_one_is_none(settings: dict[str, Any]) -> None:
    """Names of variables and files, and models whose names begin like keys."""
    assert place_of_key(settings) == ""
