"""How `vllm serve` is called, and what must be there before."""

import pytest

from evolve.types import ModelGone
from evolve_vllm.server import build_command, build_environment, check_machine
from evolve_vllm.settings import VllmSettings

_OWN = ("--host", "127.0.0.1", "--port", "4000", "--served-model-name", "org/m")


def test_one_gpu_needs_no_word_of_parallelism():
    """What is passed through comes last, so that it is read last."""
    settings = VllmSettings(model="org/m", args=("--max-model-len", "4096"))
    assert build_command(settings, 4000) == ("vllm", "serve", "org/m", *_OWN, "--max-model-len", "4096")


def test_a_model_is_spread_over_its_gpus():
    settings = VllmSettings(model="org/m", gpus=4)
    assert build_command(settings, 4000)[-2:] == ("--tensor-parallel-size", "4")


def test_the_server_gets_the_key_and_none_of_the_engines():
    """Whatever vendor they are for; what else stands in the environment is passed on."""
    engine = {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b", "VLLM_API_KEY": "c", "HF_TOKEN": "d"}
    engine |= {
        "LAB_KEY": "e",
        "GITHUB_TOKEN": "f",
        "AWS_SECRET_ACCESS_KEY": "g",
        "DB_PASSWORD": "h",
        "HUGGING_FACE_HUB_TOKEN": "i",
    }
    kept = {"HF_TOKEN": "d", "HUGGING_FACE_HUB_TOKEN": "i", "VLLM_API_KEY": "key"}
    assert build_environment(engine, "key") == kept


def test_the_program_may_be_told_from_home(installed, monkeypatch):
    """As `docs/models.md` has it."""
    environment, devices = installed
    monkeypatch.setenv("HOME", environment["PATH"])
    settings = VllmSettings(model="org/m", command="~/vllm")
    check_machine(settings, {"PATH": "/nowhere"}, devices)
    assert build_command(settings, 4000)[0] == f"{environment['PATH']}/vllm"


@pytest.fixture
def installed(tmp_path):
    """An environment with a program `vllm` on its path, and a folder of device files: two GPUs of NVIDIA's."""
    program = tmp_path / "vllm"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    devices = tmp_path / "dev"
    devices.mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
        (devices / name).touch()
    return {"PATH": str(tmp_path)}, devices


@pytest.mark.parametrize("gpus", [0, 1, 2])
def test_nothing_is_missing_where_there_are_as_many_gpus(installed, gpus):
    """Nor where none is wanted."""
    engine, devices = installed
    check_machine(VllmSettings(model="org/m", gpus=gpus), engine, devices)


def test_too_few_gpus_are_an_error(installed):
    """With what there is, and what to do."""
    engine, devices = installed
    with pytest.raises(ModelGone, match=r"needs 4 GPUs, and this machine shows 2\. Try: set gpus"):
        check_machine(VllmSettings(model="org/m", gpus=4), engine, devices)


def test_hidden_gpus_are_none(installed):
    """An empty variable hides them all."""
    engine, devices = installed
    hidden = {**engine, "CUDA_VISIBLE_DEVICES": ""}
    with pytest.raises(ModelGone, match="shows 0"):
        check_machine(VllmSettings(model="org/m"), hidden, devices)


def test_other_gpus_are_not_counted(installed):
    """AMD's driver has one device file for all of them."""
    engine, devices = installed
    (devices / "kfd").touch()
    check_machine(VllmSettings(model="org/m", gpus=8), engine, devices)


def test_a_missing_program_is_an_error(installed):
    """It is looked for where the engine looks."""
    _, devices = installed
    with pytest.raises(ModelGone, match=r"there is no program 'vllm'\. Try: pip install vllm"):
        check_machine(VllmSettings(model="org/m"), {"PATH": "/no/such/folder"}, devices)
