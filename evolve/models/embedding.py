"""The body of an embedding, as OpenAI's servers send it (https://platform.openai.com/docs/api-reference/embeddings).

Invariant: a vector is finite numbers, at least one of them not 0."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evolve.models.answer import Nonsense, disguised, parsed, usage_of
from evolve.types import Usage


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text's vector, and what the server counted."""

    vector: tuple[float, ...]
    usage: Usage | None


def embedding(content: bytes) -> Embedding:
    """The vector in a body; raises `Nonsense`."""
    body = parsed(content.decode("utf-8", "replace"))
    data = body.get("data")
    first = data[0] if isinstance(data, list) and data else None
    numbers = first.get("embedding") if isinstance(first, Mapping) else None
    if not isinstance(numbers, list) or not all(map(_is_number, numbers)) or not any(numbers):
        raise Nonsense("there is no embedding in it", "", usage_of(body), disguised(body))
    return Embedding(tuple(float(number) for number in numbers), usage_of(body))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
