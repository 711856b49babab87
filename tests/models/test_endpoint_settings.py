from datetime import date

import pytest

from evolve.models.settings import OPENAI, OpenAISettings, endpoint, is_private
from evolve.types import ConfigError

SECRET = "sk-0123456789abcdef"
ACCOUNT = {"OPENAI_API_KEY": SECRET}


def settings(**given: object) -> OpenAISettings:
    return OpenAISettings.model_validate({"model": "m", **given})


def test_without_an_address_it_is_openais_with_the_accounts_key():
    found = endpoint(settings(), ACCOUNT)
    assert (found.url, found.key.reveal()) == (OPENAI, SECRET)


def test_the_environments_address_and_key_belong_together():
    found = endpoint(settings(), {**ACCOUNT, "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/"})
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
    assert not endpoint(settings(base_url=url), ACCOUNT).key


def test_a_key_that_is_named_is_sent_wherever_it_is_named_for():
    found = endpoint(settings(base_url="http://gpu7:8000/v1", key_env="LAB"), {"LAB": SECRET})
    assert found.key.reveal() == SECRET


@pytest.mark.parametrize(
    ("given", "environment", "words"),
    [
        ({}, {}, r"no key for api.openai.com.*OPENAI_API_KEY is not set. Do: export OPENAI_API_KEY"),
        ({"base_url": "https://api.example.com/v1"}, {}, r"OPENAI_API_KEY is not set"),
        ({"base_url": "http://127.0.0.1/v1", "key_env": "LAB"}, {}, r"LAB is not set"),
        ({"base_url": "http://api.example.com/v1"}, ACCOUNT, r"write https"),
        ({"base_url": "ftp://host/v1"}, ACCOUNT, r"no address of a web server"),
        ({"base_url": "localhost:8000"}, ACCOUNT, r"no address of a web server"),
        ({"base_url": "http://host:99999/v1"}, ACCOUNT, r"no address"),
        ({"base_url": f"https://user:{SECRET}@host/v1"}, ACCOUNT, r"holds credentials"),
        ({"base_url": f"https://host/v1?api_key={SECRET}"}, ACCOUNT, r"after \? or #"),
        ({"headers": {"Authorization": f"Bearer {SECRET}"}}, ACCOUNT, r"'Authorization' may carry a key"),
        ({"headers": {"X-Api-Key": SECRET}}, ACCOUNT, r"may carry a key"),
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
        endpoint(settings(**given), environment)
    assert "Do: " in str(raised.value)
    assert SECRET not in str(raised.value)


def test_other_headers_are_sent():
    assert endpoint(settings(headers={"X-Title": "evolve"}), ACCOUNT).headers == {"X-Title": "evolve"}


@pytest.mark.parametrize(
    ("host", "private"),
    [("localhost", True), ("gpu.lan", True), ("169.254.1.1", True), ("8.8.8.8", False), ("api.openai.com", False)],
)
def test_a_private_host_is_told_by_its_address_or_its_name(host: str, private: bool):
    assert is_private(host) == private
