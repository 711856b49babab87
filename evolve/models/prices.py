"""What a call costs by its model's prices, and what it may cost at most before it is sent.

Invariant: a cost counts what was used and nothing else. What a call may cost is never below what it does cost where the server honours
`max_tokens`, tries once, and makes no more tokens of a byte than `MARGIN` times the most that it made before."""

import math
import threading
from dataclasses import dataclass, replace

from evolve.models.cost import Cost
from evolve.types import Prompt, Reply, Usage

TEMPLATE_TOKENS = 128
"""What a server may add to a dialogue: a system prompt of its own, the date, the marks of the beginning and the end."""
MESSAGE_TOKENS = 8
"""What it may add to each message."""
ENOUGH = 5
"""Prompts with an exact count, after which the bytes of a token are known well enough."""
MARGIN = 1.25
_ESTIMATED = 0.25
"""Tokens per byte at least: as many as are counted where the server does not say."""
_MILLION = 1e6
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens, and per hour of one GPU. `gpus` of one's own serve `concurrency` calls at a time, which share them."""

    prompt: float = 0.0
    cached: float = 0.0
    completion: float = 0.0
    gpus: int = 0
    gpu_hour: float = 0.0
    concurrency: int = 1

    def cost(self, usage: Usage, seconds: float) -> Cost:
        """What a call costs that has used this and took so long."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        tokens = fresh * self.prompt + cached * self.cached + usage.completion_tokens * self.completion
        gpu_seconds = seconds * self.gpus / self.concurrency
        money = tokens / _MILLION + gpu_seconds * self.gpu_hour / _HOUR
        return Cost(1, usage.prompt_tokens + usage.completion_tokens, money, gpu_seconds)


class Prices:
    """The rates of a model, and how many tokens it makes of a byte, as far as its answers told. Any thread may call."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self._lock = threading.Lock()
        self._counted = 0
        self._densest = 0.0

    @property
    def tokens_per_byte(self) -> float:
        """What is reserved for each byte of a prompt: one token, which no tokenizer exceeds, until enough answers told better."""
        with self._lock:
            learned = max(_ESTIMATED, MARGIN * self._densest)
            return min(1.0, learned) if self._counted >= ENOUGH else 1.0

    def believed(self, prompt: Prompt, reply: Reply) -> Reply:
        """The answer; its usage is not exact where it counts more tokens of the prompt than any tokenizer makes."""
        most = max(1, reply.attempts) * (prompt.size + _added(len(prompt.messages)))
        if not reply.usage.exact or reply.usage.prompt_tokens <= most:
            return reply
        return replace(reply, usage=replace(reply.usage, exact=False))

    def saw(self, prompt: Prompt, reply: Reply) -> None:
        """Learns from an answer whose usage is exact, and that was had at the first attempt; other answers tell nothing."""
        usage = reply.usage
        if not usage.exact or reply.attempts != 1 or not usage.prompt_tokens:
            return
        with self._lock:
            self._counted += 1
            self._densest = max(self._densest, usage.prompt_tokens / max(1, prompt.size))

    def cost(self, usage: Usage, seconds: float) -> Cost:
        """What a call costs that has used this and took so long."""
        return self.rates.cost(usage, seconds)

    def worst(self, prompt_bytes: int, messages: int, max_tokens: int, seconds: float, samples: int = 1) -> Cost:
        """What a request for so many answers costs at most: the prompt is charged for each of them, at the dearer price, and each is as long
        as it may be and takes `seconds`. Each answer is a call."""
        prompt_tokens = _added(messages) + math.ceil(prompt_bytes * self.tokens_per_byte)
        cached = prompt_tokens if self.rates.cached > self.rates.prompt else 0
        return self.rates.cost(Usage(prompt_tokens, max_tokens, cached), seconds).times(samples)


def _added(messages: int) -> int:
    """What a server may add to so many messages, in tokens."""
    return TEMPLATE_TOKENS + MESSAGE_TOKENS * messages
