"""Sixty-four threads against a server that fails at random: what was answered is a reply, once, and nobody is left waiting."""

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from evolve.models.endpoint import OpenAISettings
from evolve.models.openai import OpenAIModel
from evolve.models.retries import CircuitBreaker, ModelClock
from evolve.types import ModelError, Reply
from tests.models.asking import PROMPT
from tests.models.fault_server import (
    CUT,
    DROP,
    EMPTY,
    HTML,
    MODEL,
    NO_CHOICES,
    OK,
    TRUNCATED,
    FaultServer,
    Step,
    failure,
)

pytestmark = pytest.mark.integration

CALLS = 600
FAULTS = (failure(503), failure(500), failure(429, retry_after="0.01"), DROP, CUT, HTML, TRUNCATED, NO_CHOICES, EMPTY)
QUICK = ModelClock(pause=lambda seconds, cancelled: cancelled.wait(seconds / 50), chance=random.Random(5).random)


def script(seed: int) -> list[Step]:
    """Half of the steps fail."""
    chosen = random.Random(seed)
    return [chosen.choice(FAULTS) if chosen.random() < 0.5 else OK for _ in range(4 * CALLS)]


def test_each_answer_is_a_reply_once_and_each_call_ends():
    never = threading.Event()
    with (
        FaultServer(script(11)) as server,
        closing(OpenAIModel(OpenAISettings(model=MODEL, base_url=server.url), {}, QUICK)) as model,
    ):
        breaker = CircuitBreaker(600.0, QUICK)

        def call(sample: int) -> int | ModelError:
            def complete(until: float) -> Sequence[Reply]:
                return model.complete(PROMPT, samples=[sample], deadline=until, cancelled=never)

            try:
                done = breaker.call(complete, time.monotonic() + 60, never)
            except ModelError as error:
                return error
            return done.failed.count + done.value[0].attempts

        with ThreadPoolExecutor(64) as pool:
            ended = list(pool.map(call, range(CALLS)))
        assert len([outcome for outcome in ended if not isinstance(outcome, ModelError)]) == script(11)[
            : server.count
        ].count(OK)
        assert {type(outcome) for outcome in ended} == {int, ModelError}, "no outage is left to the caller"
        assert sum(map(attempts, ended)) == server.count


def attempts(outcome: int | ModelError) -> int:
    """Returns how many requests a call took."""
    return outcome.attempts if isinstance(outcome, ModelError) else outcome
