import subprocess
import sys

import pytest

from evolve import plugins
from evolve.types import ConfigError


def test_the_kind_openai_is_there_and_embeds_and_is_priced():
    entry = plugins.load(()).model_kind("openai")
    assert (entry.argument, entry.embeds, entry.priced) == ("model", True, True)


def test_a_model_is_made_from_its_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    plugins.load(()).model("openai", {"model": "m", "base_url": "http://127.0.0.1:9/v1"}).close()


def test_without_a_key_it_is_one_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match=r"no key for api.openai.com.*Try: export OPENAI_API_KEY"):
        plugins.load(()).model("openai", {"model": "gpt-5-mini"})


@pytest.mark.integration
def test_the_sdk_is_imported_only_when_a_model_is_made():
    program = (
        "import sys, evolve.plugins; evolve.plugins.load(()); print('openai' in sys.modules, 'httpx2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
