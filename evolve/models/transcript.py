"""A prompt as a text for whoever reads files: a person, or a program that is no server.

Invariant: a line that says who speaks bears the name of the prompt, which no text inside can know."""

from evolve.types import Prompt
from evolve.types.prompt import Usage, estimated


def call_name(request: str, sample: int) -> str:
    """What a call is named in files: the same question has the same name, in every run."""
    return f"{request[:16]}-{sample}"


def transcript(prompt: Prompt, name: str) -> str:
    """All messages in their order, each below a line `==== NAME: role ====`."""
    return "\n\n".join(f"==== {name}: {message.role} ====\n\n{message.text}" for message in prompt.messages) + "\n"


def estimated_usage(prompt: Prompt, reply: str) -> Usage:
    """What a call took where nobody counted."""
    return Usage(sum(estimated(message.text) for message in prompt.messages), estimated(reply))
