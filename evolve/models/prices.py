"""Cost of a call by its model's prices, and a bound on it before the call is sent.

The bound holds where the server honours `max_tokens`, tries once, and makes no more tokens of a byte than `MARGIN` times the most that it
made before."""

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from evolve.types import Progress, Prompt, Reply, Usage

TEMPLATE_TOKENS = 128
"""Tokens that a server may add to a dialogue: a system prompt of its own, the date, the marks of the beginning and the end."""
MESSAGE_TOKENS = 8
"""Tokens that it may add to each message."""
ENOUGH = 5
"""Prompts with an exact count, after which the bytes of a token are known well enough."""
MARGIN = 1.25
_ESTIMATED = 0.25
"""Tokens per byte at least: as many as are counted where the server does not say."""
_MILLION = 1e6
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Cost:
    """Amounts that a call of a model takes from a budget. `tokens` are those of prompts and answers together; `money` is in US dollars."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    gpu_seconds: float = 0.0

    def plus(self, other: "Cost") -> "Cost":
        """Returns both together."""
        return Cost(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.money + other.money,
            self.gpu_seconds + other.gpu_seconds,
        )

    def times(self, count: int) -> "Cost":
        """Returns so many of it."""
        return Cost(self.calls * count, self.tokens * count, self.money * count, self.gpu_seconds * count)

    def after(self, progress: Progress) -> Progress:
        """Returns the progress when this is spent, too."""
        return replace(
            progress,
            calls=progress.calls + self.calls,
            tokens=progress.tokens + self.tokens,
            money=progress.money + self.money,
            gpu_seconds=progress.gpu_seconds + self.gpu_seconds,
        )


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Returns all of them together."""
    return reduce(Cost.plus, costs, Cost())


@dataclass(frozen=True, slots=True)
class ModelRates:
    """US dollars per million tokens, and per hour of one GPU. `gpus` of one's own serve `concurrency` calls at a time, which share them."""

    prompt: float = 0.0
    cached: float = 0.0
    completion: float = 0.0
    gpus: int = 0
    gpu_hour: float = 0.0
    concurrency: int = 1

    def cost(self, usage: Usage, seconds: float) -> Cost:
        """Returns the cost of a call with this usage and duration."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        fresh = usage.prompt_tokens - cached
        tokens = fresh * self.prompt + cached * self.cached + usage.completion_tokens * self.completion
        gpu_seconds = seconds * self.gpus / self.concurrency
        money = tokens / _MILLION + gpu_seconds * self.gpu_hour / _HOUR
        return Cost(1, usage.prompt_tokens + usage.completion_tokens, money, gpu_seconds)


class Prices:
    """ModelRates of a model, and the tokens that it makes of a byte, learned from its answers. Any thread may call."""

    def __init__(self, rates: ModelRates) -> None:
        self.rates = rates
        self._lock = threading.Lock()
        self._counted = 0
        self._densest = 0.0

    @property
    def tokens_per_byte(self) -> float:
        """Tokens to reserve for each byte of a prompt: one token, which no tokenizer exceeds, until enough answers told better."""
        with self._lock:
            # A byte makes at most one token with every tokenizer; a server that counts few must not lower the bound below the estimate.
            learned = max(_ESTIMATED, MARGIN * self._densest)
            return min(1.0, learned) if self._counted >= ENOUGH else 1.0

    def check_usage(self, prompt: Prompt, reply: Reply) -> Reply:
        """Returns the answer; marks its usage as estimated where it counts more tokens of the prompt than any tokenizer makes."""
        most = max(1, reply.attempts) * (prompt.size + _count_added(len(prompt.messages)))
        if not reply.usage.exact or reply.usage.prompt_tokens <= most:
            return reply
        return replace(reply, usage=replace(reply.usage, exact=False))

    def learn(self, prompt: Prompt, reply: Reply) -> None:
        """Learns from an answer whose usage is exact, and that was had at the first attempt; other answers tell nothing."""
        usage = reply.usage
        if not usage.exact or reply.attempts != 1 or not usage.prompt_tokens:
            return
        with self._lock:
            self._counted += 1
            self._densest = max(self._densest, usage.prompt_tokens / max(1, prompt.size))

    def cost(self, usage: Usage, seconds: float) -> Cost:
        """Returns the cost of a call with this usage and duration."""
        return self.rates.cost(usage, seconds)

    def worst(self, prompt_bytes: int, messages: int, max_tokens: int, seconds: float, samples: int = 1) -> Cost:
        """Returns the most that a request for so many answers costs: the prompt is charged for each of them, at the dearer price, and each is as long
        as it may be and takes `seconds`. Each answer is a call."""
        prompt_tokens = _count_added(messages) + math.ceil(prompt_bytes * self.tokens_per_byte)
        cached = prompt_tokens if self.rates.cached > self.rates.prompt else 0
        return self.rates.cost(Usage(prompt_tokens, max_tokens, cached), seconds).times(samples)


def _count_added(messages: int) -> int:
    """Returns the tokens that a server may add to so many messages."""
    return TEMPLATE_TOKENS + MESSAGE_TOKENS * messages
