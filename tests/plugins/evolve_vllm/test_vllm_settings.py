"""Settings of kind `vllm` that cannot be meant."""

import pytest
from pydantic import ValidationError

from evolve_vllm.settings import VllmSettings


@pytest.mark.parametrize(
    ("word", "option"),
    [
        ("--host", "--host"),
        ("--port=9", "--port"),
        ("--api-key", "--api-key"),
        ("--api_key=sk", "--api-key"),
        ("--served-model-name", "--served-model-name"),
        ("--uds", "--uds"),
    ],
)
def test_an_option_that_the_plugin_sets_is_refused(word, option):
    """Also with underscores, and with its value behind an equals sign."""
    with pytest.raises(ValidationError, match=f"{option} is set by this plugin"):
        VllmSettings(model="org/m", args=("--dtype", "auto", word))


@pytest.mark.parametrize("word", ["--max-model-len", "--load-format", "dummy", "-O3", "-5", "--data-parallel-size"])
def test_other_options_pass(word):
    """The plugin does not know them, and vllm does."""
    assert VllmSettings(model="org/m", args=(word,)).args == (word,)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "--help"}, "a model is a name or a folder"),
        ({"model": "org/m@http://127.0.0.1:8000/v1"}, "used as NAME@URL, without vllm:"),
        ({"model": ""}, "at least 1 character"),
        ({"tensor_parallel": 2}, "Extra inputs"),
        ({"openai": {"base_url": "http://127.0.0.1:1/v1"}}, "base_url follows from the server that is started"),
        ({"openai": {"temprature": 1.0}}, "temprature"),
        ({"openai": {"key_env": "KEY"}}, "key_env follows from the server"),
    ],
)
def test_what_does_not_fit_together_is_refused(settings, said):
    """Before anything is started."""
    with pytest.raises(ValidationError, match=said):
        VllmSettings(**{"model": "org/m", **settings})
