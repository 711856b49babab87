"""How `vllm serve` is called: its words, its environment, and what must be there first. Starts nothing.

Invariant: no key stands on a command line, and none of the engine's own keys reaches the server."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from evolve.types import ModelGone
from evolve_vllm.settings import VllmSettings

HOST = "127.0.0.1"
_SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""How names of variables end that hold what is the engine's alone."""
_HUBS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""What the server needs to fetch a model."""
_DEVICES = Path("/dev")
_NVIDIA = re.compile(r"nvidia\d+")
_OTHER_GPUS = ("kfd", "dxg")
"""Device files of AMD's driver, and of the GPUs that a Windows host lends: they do not say how many there are."""


def words(settings: VllmSettings, port: int) -> tuple[str, ...]:
    """The command line of a server."""
    spread = settings.gpus // settings.replicas
    parallel = ("--tensor-parallel-size", str(spread)) if spread > 1 else ()
    copies = ("--data-parallel-size", str(settings.replicas)) if settings.replicas > 1 else ()
    own = ("--host", HOST, "--port", str(port), "--served-model-name", settings.model)
    return (program(settings), "serve", settings.model, *own, *parallel, *copies, *settings.args)


def program(settings: VllmSettings) -> str:
    """What is started: a name, or a path from home or from here."""
    return str(Path(settings.command).expanduser())


def surroundings(settings: VllmSettings, engine: Mapping[str, str], key: str) -> dict[str, str]:
    """The server's environment: the engine's, without its keys, and with the one that the server asks of its callers."""
    kept = {name: value for name, value in engine.items() if name in _HUBS or not name.endswith(_SECRETS)}
    if settings.devices:
        kept["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, settings.devices))
    return {**kept, "VLLM_API_KEY": key}


def require(settings: VllmSettings, engine: Mapping[str, str], devices: Path = _DEVICES) -> None:
    """Raises `ModelGone` where the program or the GPUs are missing."""
    if shutil.which(program(settings), path=engine.get("PATH")) is None:
        raise ModelGone(
            f"model {settings.model!r} needs vLLM, and there is no program {settings.command!r}. Do: pip install vllm, or give the "
            "path of the program as the setting command, or name a server that runs already as the setting url"
        )
    visible = _visible(surroundings(settings, engine, ""), devices)
    if visible is not None and visible < settings.gpus:
        raise ModelGone(
            f"model {settings.model!r} needs {settings.gpus} GPUs, and this machine shows {visible}. Do: set gpus to what there is, "
            "or to 0 for a vllm that is built for CPUs, or name a server that runs already as the setting url"
        )


def _visible(server: Mapping[str, str], devices: Path) -> int | None:
    """How many GPUs there are; None where that cannot be told. A variable that names none hides all."""
    if server.get("CUDA_VISIBLE_DEVICES") == "":
        return 0
    if any((devices / name).exists() for name in _OTHER_GPUS):
        return None
    return sum(bool(_NVIDIA.fullmatch(path.name)) for path in devices.glob("nvidia*"))
