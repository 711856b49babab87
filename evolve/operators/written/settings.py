"""What may be set of an operator that asks a model.

Invariant: without any setting, a model answers as its provider has tuned it."""

from pydantic import BaseModel, ConfigDict, Field


class AskingSettings(BaseModel):
    """How a model is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    """How freely the model draws its words; None: its own."""
    effort: str = Field(default="", max_length=40, pattern="^[a-z0-9_-]*$")
    """How much it thinks first: "low", "medium", "high", or what it knows; empty: its own."""
    max_tokens: int = Field(default=0, ge=0)
    """How long an answer may be, its thinking included; 0: as long as the model's settings allow."""
    tokens: int = Field(default=0, ge=0)
    """How long a prompt may be; 0: `prompts.tokens`."""


class WritingSettings(AskingSettings):
    """Settings of `rewrite`, `crossover` and `fix`."""

    samples: int = Field(default=1, ge=1, le=64)
    """Answers to each prompt, at least; each is a child."""
    repair: int = Field(default=1, ge=0, le=1)
    """Rounds in which a reply that cannot be used goes back with the reason."""
