"""Suite for kinds of models: calls on several threads, and one that is cancelled."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from evolve.protocols import Model
from evolve.types import Message, ModelError, Prompt, Reply, Section, Usage

IN_FLIGHT = 3


def check_model(make: Callable[[], Model], seconds: float = 60.0) -> None:
    """Calls the model of `make()`, one that answers within `seconds`, on several threads. Checked: a call gives an answer at least, and at most
    one for each sample; usage is counted; a call that was cancelled raises `ModelError` or answers, and does not go on."""
    deadline, never, over = time.monotonic() + seconds, threading.Event(), threading.Event()
    over.set()

    def ask(number: int, cancelled: threading.Event) -> Sequence[Reply]:
        prompt = Prompt((Message("user", (Section("task", f"Say {number}."),)),), max_tokens=64)
        return model.complete(prompt, samples=(0, 1), deadline=deadline, cancelled=cancelled)

    with closing(make()) as model:
        _check_usage(model.check(deadline, never))
        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            for replies in pool.map(lambda number: ask(number, never), range(IN_FLIGHT)):
                _check_replies(replies)
        began = time.monotonic()
        try:
            _check_replies(ask(IN_FLIGHT, over))
        except ModelError:
            pass
        assert time.monotonic() - began < seconds / 2, "a call that was cancelled goes on"


def _check_replies(replies: Sequence[Reply]) -> None:
    assert 1 <= len(replies) <= 2, f"two samples are wanted, and at least one, got {len(replies)}"
    for reply in replies:
        assert isinstance(reply.text, str), f"an answer is a text, got {reply.text!r}"
        took = reply.attempts >= 1 and 0 <= reply.seconds < math.inf
        assert took, f"an answer takes a try and time, got {reply}"
        _check_usage(reply.usage)


def _check_usage(usage: Usage) -> None:
    assert isinstance(usage, Usage), f"what a call has used is a Usage, got {usage!r}"
    is_possible = 0 <= usage.cached_tokens <= usage.prompt_tokens and usage.completion_tokens >= 0
    assert is_possible, f"tokens are counted from 0, and cached ones are among those of the prompt, got {usage}"
