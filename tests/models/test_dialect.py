import pytest

from evolve.models.dialect import Dialect, sample_seed
from evolve.models.faults import SYSTEM
from evolve.models.settings import OpenAISettings
from evolve.types import Message, Prompt, Section
from tests.models.asking import PROMPT

DIALOGUE = Prompt((Message("system", (Section("a", "rules"),)), *PROMPT.messages))


def dialect(host: str = "127.0.0.1", **settings: object) -> Dialect:
    return Dialect(OpenAISettings.model_validate({"model": "m", **settings}), host)


def test_a_plain_call_says_no_more_than_it_must():
    assert dialect().body(PROMPT, [0]) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 100,
    }


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "max_completion_tokens"),
        ("me.openai.azure.com", "max_completion_tokens"),
        ("notopenai.com", "max_tokens"),
        ("gpu7", "max_tokens"),
    ],
)
def test_the_length_has_the_name_that_the_host_prefers(host: str, name: str):
    assert dialect(host).body(PROMPT, [0])[name] == 100


def test_what_the_prompt_says_comes_before_the_settings():
    told = Prompt(PROMPT.messages, temperature=0.2, effort="high")
    model = dialect(temperature=0.9, effort="low")
    assert [model.body(prompt, [0])["temperature"] for prompt in (PROMPT, told)] == [0.9, 0.2]
    assert [model.body(prompt, [0])["reasoning_effort"] for prompt in (PROMPT, told)] == ["low", "high"]


def test_without_a_stream_there_are_no_options_of_one():
    model = dialect(streaming=True)
    assert model.body(PROMPT, [0])["stream_options"] == {"include_usage": True}
    model.refuse("stream")
    assert {"stream", "stream_options"} & set(model.body(PROMPT, [0])) == set()


def test_where_no_system_speaks_its_text_begins_the_users():
    model = dialect()
    assert SYSTEM in model.optional(model.body(DIALOGUE, [0]))
    model.refuse(SYSTEM)
    body = model.body(DIALOGUE, [0])
    assert body["messages"] == [{"role": "user", "content": "rules\n\nSay hello."}]
    assert SYSTEM not in model.optional(body)


def test_what_must_be_there_and_what_the_user_wrote_is_not_optional():
    model = dialect(extra={"top_k": 3}, temperature=1.0)
    assert model.optional(model.body(PROMPT, [0])) == ("temperature", "max_tokens")


def test_every_sample_has_a_seed_of_its_own_and_always_the_same():
    assert "seed" not in dialect().body(PROMPT, [0])
    seeds = [dialect(seed=5).body(PROMPT, [sample])["seed"] for sample in (0, 1, 0)]
    assert seeds[0] == seeds[2] != seeds[1]
    assert sample_seed(5, "request", 0) == 342_490_723
    assert dialect(seed=True).body(PROMPT, [0])["seed"] != seeds[0]
