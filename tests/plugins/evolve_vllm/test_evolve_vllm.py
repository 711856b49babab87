"""The kind of model `vllm` as the engine gets it: with the engine's own client, against a program that plays `vllm`."""

import subprocess
import sys
import threading
import time

import pytest

from evolve import plugins
from evolve.types import ConfigError
from tests.plugins.evolve_vllm.conftest import asking

pytestmark = pytest.mark.integration


@pytest.fixture
def loaded():
    """The bundled plugins alone."""
    return plugins.load([])


def test_it_is_bundled_and_its_argument_is_the_model(loaded):
    """`--model vllm:org/name`."""
    entry = loaded.model_kind("vllm")
    assert (entry.argument, entry.priced) == ("model", False)


def test_calls_go_through_the_engines_client(loaded, vllm):
    """With the key of this start, and the usage that the server tells."""
    model = loaded.model("vllm", {"model": "org/tiny", "command": vllm, "gpus": 0})
    until, cancelled = time.monotonic() + 30, threading.Event()
    try:
        assert model.check(until, cancelled).exact
        replies = model.complete(asking("hello"), samples=[0], deadline=until, cancelled=cancelled)
        assert [(reply.text, reply.usage.completion_tokens) for reply in replies] == [("echo: hello", 2)]
    finally:
        model.close()


def test_settings_that_are_wrong_are_an_error_of_the_plugin(loaded):
    """Found before anything is started."""
    with pytest.raises(ConfigError, match="--port is set by this plugin"):
        loaded.model("vllm", {"model": "org/tiny", "args": ["--port", "9"]})


def test_the_plugin_imports_neither_vllm_nor_the_client():
    """It is loaded with every command: what is heavy comes when a model is made."""
    heavy = "{'vllm', 'torch', 'openai', 'transformers', 'subprocess'} & set(sys.modules)"
    source = f"import sys; before = set(sys.modules); import evolve_vllm; print(sorted(({heavy}) - before - {{'subprocess'}}))"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "[]\n"
