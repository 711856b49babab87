"""Settings of kind `vllm`, checked before anything is started."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evolve.models import OpenAISettings

OWN = ("--model", "--host", "--port", "--uds", "--api-key", "--served-model-name")
"""Options of `vllm serve` that are the plugin's: where the server listens, and to whom it answers."""


class VllmSettings(BaseModel):
    """Settings of a server that is started with a campaign, and of the calls to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(
        min_length=1, examples=["org/name"], description="the model: a name of the Hugging Face hub, or a folder"
    )
    gpus: int = Field(
        default=1,
        ge=0,
        le=1024,
        description="how many GPUs the model is spread over; 0: none, for a vllm that is built for CPUs",
    )
    args: tuple[str, ...] = Field(
        default=(), description='more words for `vllm serve`, such as `["--max-model-len", "32768"]`'
    )
    openai: dict[str, Any] = Field(
        default_factory=dict,
        description="settings of the kind `openai` for the calls, such as `{ temperature = 0.8 }`",
    )
    command: str = Field(
        default="vllm",
        min_length=1,
        description="the program to start: a name on the `PATH`, or the path of one in another environment",
    )
    start_seconds: float = Field(
        default=600.0,
        gt=0,
        allow_inf_nan=False,
        description="how long the server may take until it answers, at its start and later",
    )

    @field_validator("model")
    @classmethod
    def _is_name(cls, model: str) -> str:
        if model.startswith("-") or "://" in model:
            raise ValueError(
                "a model is a name or a folder; a server that runs already is used as NAME@URL, without vllm:"
            )
        return model

    @field_validator("args")
    @classmethod
    def _leaves_our_options(cls, args: tuple[str, ...]) -> tuple[str, ...]:
        for word in args:
            option = word.partition("=")[0].replace("_", "-")
            if option in OWN:
                raise ValueError(f"{option} is set by this plugin: leave it out, or start the server yourself")
        return args

    @field_validator("openai")
    @classmethod
    def _leaves_our_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        if taken := {"model", "base_url", "key_env"} & set(given):
            raise ValueError(f"{min(taken)} follows from the server that is started: leave it out")
        OpenAISettings(model="any", **given)
        return given
