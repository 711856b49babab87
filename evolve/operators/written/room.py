"""How long prompt and answer may be, so that both fit into the model's context.

Invariant: an answer keeps at most half of the context, so that something is left for the prompt, whatever is set."""

from dataclasses import dataclass

from evolve.operators.written.settings import AskingSettings
from evolve.protocols import Caller


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens of a prompt, and of its answer."""

    prompt: int
    answer: int


def room(settings: AskingSettings, caller: Caller, usual: int) -> Room:
    """The room for one request to a model; `usual` is the campaign's for prompts."""
    answer = min(settings.max_tokens or caller.max_tokens, caller.max_tokens, caller.context_tokens // 2)
    return Room(min(settings.tokens or usual, caller.context_tokens - answer), answer)
