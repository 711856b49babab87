from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.endpoint import OPENAI, ApiKey, OpenAISettings, is_private, open_endpoint, read_key
from evolve.types import ConfigError

SECRET = "sk-0123456789abcdef"
ACCOUNT = {"OPENAI_API_KEY": SECRET}


def settings(**given: object) -> OpenAISettings:
    return OpenAISettings.model_validate({"model": "m", **given})


def test_without_an_address_it_is_openais_with_the_accounts_key():
    found = open_endpoint(settings(), ACCOUNT)
    assert (found.url, found.key.reveal()) == (OPENAI, SECRET)


def test_the_environments_address_and_key_belong_together():
    found = open_endpoint(settings(), {**ACCOUNT, "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/"})
    assert (found.url, found.host, found.key.reveal()) == ("http://127.0.0.1:8000/v1", "127.0.0.1", SECRET)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1",
        "http://[::1]:1/v1",
        "http://gpu7:8000/v1",
        "http://10.0.0.3/v1",
    ],
)
def test_a_server_of_ones_own_needs_no_key_and_is_not_sent_that_of_an_account(url: str):
    assert not open_endpoint(settings(base_url=url), ACCOUNT).key


def test_a_key_that_is_named_is_sent_wherever_it_is_named_for():
    found = open_endpoint(settings(base_url="http://gpu7:8000/v1", key_env="LAB"), {"LAB": SECRET})
    assert found.key.reveal() == SECRET


@pytest.mark.parametrize(
    ("given", "environment", "words"),
    [
        ({}, {}, r"no key for api.openai.com.*OPENAI_API_KEY is not set. Try: export OPENAI_API_KEY"),
        ({"base_url": "https://api.example.com/v1"}, {}, r"OPENAI_API_KEY is not set"),
        ({"base_url": "http://127.0.0.1/v1", "key_env": "LAB"}, {}, r"LAB is not set"),
        ({"base_url": "http://api.example.com/v1"}, ACCOUNT, r"write https"),
        ({"base_url": "ftp://host/v1"}, ACCOUNT, r"no address of a web server"),
        ({"base_url": "localhost:8000"}, ACCOUNT, r"no address of a web server"),
        ({"base_url": "http://host:99999/v1"}, ACCOUNT, r"no address"),
        ({"base_url": f"https://user:{SECRET}@host/v1"}, ACCOUNT, r"holds credentials"),
        ({"base_url": f"https://host/v1?api_key={SECRET}"}, ACCOUNT, r"after \? or #"),
        ({"headers": {"Authorization": f"Bearer {SECRET}"}}, ACCOUNT, r"'Authorization' may carry a key"),
        ({"headers": {"X-Api-ApiKey": SECRET}}, ACCOUNT, r"may carry a key"),
        ({"headers": {"X-Whatever": f"Bearer {SECRET}"}}, ACCOUNT, r"may carry a key"),
        ({"headers": {"X-Title": "two\nlines"}}, ACCOUNT, r"letters that no header has"),
        ({"extra": {"api_key": SECRET}}, ACCOUNT, r"`extra.api_key` is a key"),
        ({"extra": {"when": date(2026, 1, 1)}}, ACCOUNT, r"a value that JSON has not"),
        ({"extra": {"top_p": float("nan")}}, ACCOUNT, r"a value that JSON has not"),
        ({"extra": {"messages": []}}, ACCOUNT, r"what the engine sets itself"),
    ],
)
def test_what_cannot_be_used_is_one_error_with_its_remedy_and_without_the_key(
    given: dict[str, object], environment: dict[str, str], words: str
):
    with pytest.raises(ConfigError, match=words) as raised:
        open_endpoint(settings(**given), environment)
    assert "Try: " in str(raised.value)
    assert SECRET not in str(raised.value)


def test_other_headers_are_sent():
    assert open_endpoint(settings(headers={"X-Title": "evolve"}), ACCOUNT).headers == {"X-Title": "evolve"}


@pytest.mark.parametrize(
    ("host", "private"),
    [("localhost", True), ("gpu.lan", True), ("169.254.1.1", True), ("8.8.8.8", False), ("api.openai.com", False)],
)
def test_a_private_host_is_told_by_its_address_or_its_name(host: str, private: bool):
    assert is_private(host) == private


LIVE = "sk-live-Zq8xW3vT9rLp2"


def test_its_text_shows_nowhere_but_where_it_is_asked_for():
    key = ApiKey(LIVE)
    assert (repr(key), str(key), f"{key}", key.reveal()) == ("ApiKey([key])", "ApiKey([key])", "ApiKey([key])", LIVE)
    assert (repr(ApiKey()), bool(ApiKey()), bool(key)) == ("ApiKey(none)", False, True)


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {LIVE}.",
        f'{{"authorization": "Bearer {LIVE}"}}',
        f"key {LIVE[:12]}*** is not known",
        f"...{LIVE[-7:]} is not known",
        f"Basic user:{LIVE}@host",
    ],
)
def test_no_part_of_it_is_left_in_what_a_server_says(text: str):
    said = ApiKey(LIVE).redact(text)
    assert not [LIVE[at : at + 6] for at in range(len(LIVE) - 5) if LIVE[at : at + 6] in said]


def test_what_looks_like_somebody_elses_key_is_hidden_too():
    assert ApiKey().redact("sent gsk-0123456789abcdef, Bearer abc") == "sent [key], [key]"


def test_words_that_are_no_key_are_left_alone():
    words = "The model `qwen3-coder` does not exist (status 404)."
    assert ApiKey(LIVE).redact(words) == words


@given(st.text(), st.text(alphabet="abcdef0123456789-_", min_size=6, max_size=40))
def test_a_redacted_text_never_holds_the_key(text: str, secret: str):
    assert secret not in ApiKey(secret).redact(f"{text} {secret} {text}").replace("[key]", "")


def test_a_last_newline_is_no_part_of_the_key():
    assert read_key({"NAME": f"{LIVE}\n"}, "NAME").reveal() == LIVE
    assert not read_key({}, "NAME")


@pytest.mark.parametrize("content", [f"{LIVE} {LIVE}", f"{LIVE}\nsecond", "schlüssel-0123456"])
def test_what_is_no_key_is_one_error_that_does_not_repeat_it(content: str):
    with pytest.raises(ConfigError, match="Try: ") as raised:
        read_key({"NAME": content}, "NAME")
    assert LIVE not in str(raised.value)
