"""A prompt as a text for whoever reads files: a person, or a program that is no server.

Invariant: a line that says who speaks bears the name of the prompt, which no text inside can know."""

from evolve.models.thinking import parted
from evolve.types import Prompt, Reply, Usage, estimated


def call_name(request: str, sample: int) -> str:
    """What a call is named in files: the same question has the same name, in every run."""
    return f"{request[:16]}-{sample}"


def transcript(prompt: Prompt, name: str) -> str:
    """All messages in their order, each below a line `==== NAME: role ====`."""
    return "\n\n".join(f"==== {name}: {message.role} ====\n\n{message.text}" for message in prompt.messages) + "\n"


def said(prompt: Prompt, answer: str, seconds: float) -> Reply:
    """An answer that is a text and nothing more: what was thought aloud is parted from it, and tokens are estimated."""
    thinking, text = parted(answer)
    usage = Usage(prompt.estimated_tokens, estimated(answer))
    return Reply(text, thinking, "stop", usage, seconds=seconds)
