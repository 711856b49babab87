"""The settings of kind `vllm`, and what is wrong with them before anything is started.

Invariant: what the plugin sets on the command line of `vllm serve` is not set a second time by `args`."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from evolve.models import OpenAISettings

OWN = (
    "--model",
    "--host",
    "--port",
    "--uds",
    "--api-key",
    "--served-model-name",
    "--tensor-parallel-size",
    "--data-parallel-size",
    "--ssl-keyfile",
    "--ssl-certfile",
    "--root-path",
)
"""Options of `vllm serve` that are the plugin's: where the server listens, to whom it answers, and how it uses the GPUs."""
_SHORT = {"-tp": "--tensor-parallel-size", "-dp": "--data-parallel-size"}


class VllmSettings(BaseModel):
    """What `vllm serve` is told, or where a server that runs already is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        min_length=1, examples=["org/name"], description="the model: a name of the Hugging Face hub, or a folder"
    )
    url: str = Field(
        default="",
        description="a server that runs already, such as `http://127.0.0.1:8000/v1`: it is used, and neither started nor stopped",
    )
    gpus: int = Field(
        default=1,
        ge=0,
        le=1024,
        description="how many GPUs the server takes; 0: none, for a vllm that is built for CPUs",
    )
    replicas: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="copies of the model, which share the GPUs; each is spread over `gpus / replicas` of them",
    )
    devices: tuple[int | str, ...] = Field(
        default=(),
        description="which GPUs, as `CUDA_VISIBLE_DEVICES` names them, such as `[2, 3]`; none: the first that are visible",
    )
    args: tuple[str, ...] = Field(
        default=(), description='more words for `vllm serve`, such as `["--max-model-len", "32768"]`'
    )
    openai: dict[str, Any] = Field(
        default_factory=dict,
        description="settings of the kind `openai` for the calls, such as `{ temperature = 0.8 }`, but for `model`, `base_url`, and, "
        "unless there is a `url`, the key",
    )
    command: str = Field(
        default="vllm",
        min_length=1,
        description="the program to start: a name on the `PATH`, or the path of one in another environment",
    )
    log: str = Field(
        default="", description="the file that takes what the server prints; none: a new file in the temporary folder"
    )
    start_seconds: float = Field(
        default=600.0,
        gt=0,
        allow_inf_nan=False,
        description="how long the server may take until it answers, at its start and later",
    )
    stop_seconds: float = Field(
        default=20.0, ge=0, le=600, description="how long it may take to stop before it is killed"
    )
    restarts: int = Field(default=3, ge=0, description="how often within an hour a server that ended is started again")

    @field_validator("model")
    @classmethod
    def _is_no_option(cls, model: str) -> str:
        if model.startswith("-"):
            raise ValueError("a model's name does not begin with a dash")
        return model

    @field_validator("args")
    @classmethod
    def _leaves_our_options(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        for word in args:
            if taken := _taken(word):
                raise ValueError(
                    f"{taken} is set by this plugin: leave it out, or start the server yourself and name its url"
                )
        return args

    @field_validator("openai")
    @classmethod
    def _leaves_our_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        if taken := {"model", "base_url"} & set(given):
            raise ValueError(f"{min(taken)} follows from the settings beside it: leave it out")
        OpenAISettings(model="any", **given)
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> "VllmSettings":
        if self.gpus % self.replicas:
            raise ValueError(
                f"each replica takes as many GPUs, and {self.gpus} GPUs are no multiple of {self.replicas}"
            )
        if self.devices and len(self.devices) != self.gpus:
            raise ValueError(f"devices names {len(self.devices)} GPUs, and gpus is {self.gpus}: make them equal")
        if self.url and (self.args or self.devices):
            raise ValueError("a server that runs already (url) takes neither args nor devices: leave them out")
        if not self.url and {"key_env", "key_file"} & set(self.openai):
            raise ValueError("a server that is started here has a key of its own: leave key_env and key_file out")
        return self


def _taken(word: str) -> str:
    """The option of ours that a word sets, also shortened, with underscores or with its value; empty for another word."""
    if not word.startswith("-"):
        return ""
    name = word.partition("=")[0].replace("_", "-")
    if name in _SHORT:
        return _SHORT[name]
    return next((option for option in OWN if len(name) > len("--x") and option.startswith(name)), "")
