"""Requests of an agent in the form of OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat), and their answers.

What a request says is checked here: it comes from a box."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.protocols import Caller, Context
from evolve.types import Evaluation, Message, Outcome, Prompt, Reply, Role, Section

JSON, STREAM = "application/json", "text/event-stream"
_ROLES: Mapping[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_HOTTEST = 2.0


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """ChatAnswer to a request."""

    status: int
    text: str
    kind: str = JSON


class UnreadableRequest(Exception):
    """A request that cannot be answered; its words say why."""


def refuse(status: int, why: str) -> ChatAnswer:
    """Returns an error of the protocol."""
    return ChatAnswer(status, json.dumps({"error": {"message": why, "type": "evolve"}}))


def read_prompt(body: str, caller: Caller) -> tuple[Prompt, bool]:
    """Returns the prompt of a request for a chat completion, and whether its answer is streamed. Raises `UnreadableRequest`."""
    try:
        told = json.loads(body)
        if told.get("tools") or told.get("functions"):
            raise UnreadableRequest("tools are not supported, only text")
        messages = tuple(
            Message(_ROLES[one["role"]], (Section("agent", _read_content(one["content"])),)) for one in told["messages"]
        )
        prompt = Prompt(messages, _read_temperature(told), max_tokens=_read_length(told, caller))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError, OverflowError) as error:
        raise UnreadableRequest(f"this is no request for a chat completion: {error}") from None
    if not messages:
        raise UnreadableRequest("this is no request for a chat completion: it has no messages")
    needed = prompt.estimated_tokens + prompt.max_tokens
    if needed > caller.context_tokens:
        raise UnreadableRequest(f"context_length_exceeded: {needed} tokens with the answer, of {caller.context_tokens}")
    return prompt, bool(told.get("stream"))


def _read_length(told: Mapping[str, Any], caller: Caller) -> int:
    most = min(caller.max_tokens, caller.context_tokens // 2)
    wanted = told.get("max_completion_tokens") or told.get("max_tokens") or most
    if type(wanted) is not int or wanted < 1:
        raise ValueError(f"max_tokens is {wanted!r}, wanted a whole number above 0")
    return min(wanted, most)


def _read_temperature(told: Mapping[str, Any]) -> float | None:
    wanted = told.get("temperature")
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not math.isfinite(wanted) or not 0.0 <= wanted <= _HOTTEST:
        raise ValueError(f"temperature is {wanted!r}, wanted 0 to {_HOTTEST:g}")
    return float(wanted)


def _read_content(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return "\n".join(str(part["text"]) for part in content)
    raise ValueError("a message's content is neither a text nor parts of text")


def format_reply(reply: Reply, model: str, number: int, *, streams: bool) -> ChatAnswer:
    """Returns a reply in the form of the protocol; one that is streamed comes in one piece."""
    finish = "length" if reply.finish == "length" else "stop"
    head = {"id": f"call-{number}", "created": 0, "model": model}
    usage = {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    said = {"role": "assistant", "content": reply.text}
    if not streams:
        choice = {"index": 0, "message": said, "finish_reason": finish}
        return ChatAnswer(200, json.dumps({**head, "object": "chat.completion", "choices": [choice], "usage": usage}))
    choice = {"index": 0, "delta": said, "finish_reason": finish}
    chunk = json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice], "usage": usage})
    return ChatAnswer(200, f"data: {chunk}\n\ndata: [DONE]\n\n", STREAM)


def format_models(model: str) -> ChatAnswer:
    """Returns the list of models, which is the campaign's one."""
    return ChatAnswer(200, json.dumps({"object": "list", "data": [{"id": model, "object": "model"}]}))


def format_evaluation(found: Evaluation, context: Context) -> ChatAnswer:
    """Returns what an evaluation found, with scores as the task counts them."""
    told = context.task.fitness
    larger = "larger" if told.direction == "max" else "smaller"
    score = None if found.fitness is None else told.shown(found.fitness)
    fields: dict[str, Any] = {"outcome": str(found.outcome), told.name: score, "better": f"{larger} is better"}
    fields["feedback"] = found.feedback
    if found.outcome is Outcome.OK:
        cases = {name: told.shown(value) for name, value in found.cases.items()}
        fields |= {"metrics": dict(found.metrics), "cases": cases}
    return ChatAnswer(
        200, json.dumps({name: value for name, value in fields.items() if value not in ("", {})}, indent=1)
    )
