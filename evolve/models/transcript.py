"""Prompts as texts for readers of files: a person, or a program that is no server."""

from evolve.models.completion import split_thinking
from evolve.types import Prompt, Reply, Usage, estimate_tokens


def call_name(request: str, sample: int) -> str:
    """Returns the name of a question in files, which is the same in every run."""
    return f"{request[:16]}-{sample}"


def format_transcript(prompt: Prompt, name: str) -> str:
    """Formats all messages in their order, each below a line `==== NAME: role ====`, which no text inside can know."""
    return "\n\n".join(f"==== {name}: {message.role} ====\n\n{message.text}" for message in prompt.messages) + "\n"


def to_reply(prompt: Prompt, answer: str, seconds: float) -> Reply:
    """Returns an answer that is a text and nothing more as a reply; its tokens are estimated."""
    thinking, text = split_thinking(answer)
    usage = Usage(prompt.estimated_tokens, estimate_tokens(answer))
    return Reply(text, thinking, "stop", usage, seconds=seconds)
