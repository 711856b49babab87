from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolve.models.keys import Key, key_from
from evolve.types import ConfigError

SECRET = "sk-live-Zq8xW3vT9rLp2"


def test_its_text_shows_nowhere_but_where_it_is_asked_for():
    key = Key(SECRET)
    assert (repr(key), str(key), f"{key}", key.reveal()) == ("Key([key])", "Key([key])", "Key([key])", SECRET)
    assert (repr(Key()), bool(Key()), bool(key)) == ("Key(none)", False, True)


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {SECRET}.",
        f'{{"authorization": "Bearer {SECRET}"}}',
        f"key {SECRET[:12]}*** is not known",
        f"...{SECRET[-7:]} is not known",
        f"Basic user:{SECRET}@host",
    ],
)
def test_no_part_of_it_is_left_in_what_a_server_says(text: str):
    said = Key(SECRET).redacted(text)
    assert not [SECRET[at : at + 6] for at in range(len(SECRET) - 5) if SECRET[at : at + 6] in said]


def test_what_looks_like_somebody_elses_key_is_hidden_too():
    assert Key().redacted("sent gsk-0123456789abcdef, Bearer abc") == "sent [key], [key]"


def test_words_that_are_no_key_are_left_alone():
    words = "The model `qwen3-coder` does not exist (status 404)."
    assert Key(SECRET).redacted(words) == words


@given(st.text(), st.text(alphabet="abcdef0123456789-_", min_size=6, max_size=40))
def test_a_redacted_text_never_holds_the_key(text: str, secret: str):
    assert secret not in Key(secret).redacted(f"{text} {secret} {text}").replace("[key]", "")


def test_a_file_comes_before_the_environment_and_its_last_newline_is_no_part_of_the_key(tmp_path: Path):
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n")
    assert key_from({"NAME": "other"}, "NAME", str(file)).reveal() == SECRET
    assert key_from({"NAME": SECRET}, "NAME", "").reveal() == SECRET
    assert not key_from({}, "NAME", "")


@pytest.mark.parametrize("content", ["", f"{SECRET} {SECRET}", f"{SECRET}\nsecond", "schlüssel-0123456"])
def test_a_file_without_a_key_is_one_error_that_does_not_repeat_it(tmp_path: Path, content: str):
    file = tmp_path / "key"
    file.write_text(content)
    with pytest.raises(ConfigError, match="Do: ") as raised:
        key_from({}, "NAME", str(file))
    assert SECRET not in str(raised.value)


def test_a_file_that_is_not_there_is_one_error(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"cannot be read: No such file.*Do: "):
        key_from({}, "NAME", str(tmp_path / "none"))
