"""Facts about `cache_policy`, a task of the benchmark of search power: its traces, its cache, and what it tells a policy."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from task_files import judging_files

from evolve import EvolveError
from evolve.task import load
from evolve.types import Outcome, Parameters, Trial

FOLDER = Path(__file__).parents[2] / "tasks" / "cache_policy"
TASK = load(str(FOLDER))
FILES = judging_files(str(FOLDER), "traces", "cache", "evaluator")
SMALL = {**TASK.parameters, "requests": 400, "capacity": 16}
A, B, C = (1, 0), (2, 0), (3, 0)


def policy_class(source: str) -> Any:
    """The class `Policy` of a program."""
    module: dict[str, Any] = {}
    exec(source, module)
    return module["Policy"]


class Program:
    """A candidate in this process: calls a policy as `binding.py` does, and keeps what it was told."""

    def __init__(self, policy: Any) -> None:
        self.policy = policy
        self.heard: list[list[int]] = []

    @contextmanager
    def session(self) -> Iterator["Program"]:
        """Itself: nothing of it is isolated."""
        yield self

    def call(self, function: str, argument: Any) -> Any:
        """The answer of one of the two functions of the binding."""
        if function == "begin":
            self.policies = [self.policy(capacity) for capacity in argument]
            self.heard = [[] for _ in argument]
            return None
        return [self._dropped(number, *question) for number, *question in argument]

    def _dropped(self, number: int, hits: Sequence[Any], key: int, source: int, full: bool) -> Any:
        self.heard[number] += [held for held, _ in hits] + [key]
        for held, by in hits:
            self.policies[number].hit(held, by)
        return self.policies[number].miss(key, source, full)


def answers(*victims: object) -> Any:
    """A policy that gives these answers in turn."""
    given = iter(victims)
    return lambda capacity: SimpleNamespace(hit=lambda *_: None, miss=lambda *_: next(given))


def played(requests: Sequence[tuple[int, int]], capacity: int, policy: Any) -> Any:
    """The replay of one trace."""
    replay = FILES.cache.Replay(requests, capacity)
    FILES.cache.play(Program(policy), [replay])
    return replay


def test_the_seed_is_lru_and_has_0_on_every_trace() -> None:
    program = Program(policy_class(TASK.seed.files["seed.py"]))
    found = FILES.evaluator.evaluate(program, Trial(parameters=Parameters(SMALL)))
    assert found.outcome is Outcome.OK
    assert dict(found.cases) == dict.fromkeys(TASK.parameters["traces"].split(), 0.0)


def test_a_hit_is_a_request_for_a_key_that_was_stored_and_not_dropped() -> None:
    replay = played([A, B, A, C, A, B], 2, answers(None, None, 2, 3))
    assert (replay.hits, replay.misses, replay.again, replay.decisions) == (2, 4, 1, 2)


def test_a_new_key_that_is_not_stored_leaves_the_cache_as_it_is() -> None:
    replay = played([A, B, C, A, B, C], 2, answers(None, None, 3, 3))
    assert (replay.hits, replay.not_stored) == (2, 2)


@pytest.mark.parametrize("victim", [4, True, "1", None, 1.0, [1], 10**400])
def test_an_answer_that_names_no_held_key_is_refused(victim: object) -> None:
    with pytest.raises(FILES.cache.Unusable, match="at request 3"):
        played([A, B, C], 2, answers(None, None, victim))


def test_hindsight_has_as_many_hits_as_the_best_of_all_sequences_of_decisions() -> None:
    rng = Random(3)
    for _ in range(20):
        requests = [(rng.randrange(5), 0) for _ in range(9)]
        best = 0
        for choices in product(range(3), repeat=7):
            best = max(best, _hits(requests, 2, choices))
        assert FILES.cache.optimal_hits(requests, 2) == best


def _hits(requests: Sequence[tuple[int, int]], capacity: int, choices: Sequence[int]) -> int:
    held: list[int] = []
    hits, turn = 0, iter(choices)
    for key, _ in requests:
        if key in held:
            hits += 1
        elif len(held) < capacity:
            held.append(key)
        elif (choice := next(turn)) < capacity:
            held[choice] = key
    return hits


def test_a_policy_is_told_no_request_before_it_has_answered_the_miss_before() -> None:
    requests = FILES.traces.trace("loop", 200, 16, True, Random(1))
    replay = FILES.cache.Replay(requests, 16)
    asked = 0
    while question := replay.question():
        hits, key, _, full = question
        assert [*hits, requests[asked + len(hits)]] == requests[asked : asked + len(hits) + 1]
        assert key == requests[asked + len(hits)][0]
        asked += len(hits) + 1
        assert replay.question()[0] == []  # type: ignore[index] # nothing more is told until the answer
        replay.answer(key if full else None)


def test_traces_side_by_side_are_told_apart() -> None:
    traces = [FILES.traces.trace(law, 300, 16, True, Random(2)) for law in ("zipf", "lanes")]
    program = Program(policy_class(TASK.seed.files["seed.py"]))
    FILES.cache.play(program, [FILES.cache.Replay(requests, 16) for requests in traces])
    for heard, requests in zip(program.heard, traces, strict=True):
        assert heard == [key for key, _ in requests][: len(heard)]


@pytest.mark.parametrize("law", FILES.traces.LAWS)
def test_a_law_draws_as_many_requests_as_wanted_and_leaves_room_above_lru(law: str) -> None:
    requests = FILES.traces.trace(law, 1500, 32, True, Random(5))
    assert requests == FILES.traces.trace(law, 1500, 32, True, Random(5))
    assert requests != FILES.traces.trace(law, 1500, 32, True, Random(6))
    assert len(requests) == 1500
    assert {source for _, source in requests} <= set(range(8))
    assert FILES.cache.optimal_hits(requests, 32) - FILES.cache.lru_hits(requests, 32) >= 60


def test_sources_that_are_not_told_are_0() -> None:
    assert {source for _, source in FILES.traces.trace("lanes", 200, 16, False, Random(1))} == {0}


def test_a_law_that_there_is_not_is_an_error_that_names_the_others() -> None:
    with pytest.raises(EvolveError, match="zipf loop"):
        FILES.traces.trace("tide", 10, 16, True, Random(1))
