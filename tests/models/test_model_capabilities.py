import threading
import time
from dataclasses import replace

import pytest

from evolve.models.capabilities import Capabilities
from tests.models.asking import asked_of
from tests.models.fault_server import HTML, MODEL, NO_USAGE, OK, FaultServer, Step, failure

LISTED = [{"id": MODEL, "max_model_len": 4096}, {"id": "other"}]
ABLE = Capabilities(
    models=(MODEL, "other"),
    listed=True,
    revision=MODEL,
    usage=True,
    streaming=True,
    streamed_usage=True,
    n=True,
    seed=True,
    json_schema=False,
    thinking=False,
    context_tokens=4096,
)


def found(last: Step, *steps: Step, models: list[dict[str, object]] = LISTED) -> tuple[Capabilities, int]:
    with FaultServer(steps, last, models) as server, asked_of(server) as model:
        return model.capabilities(time.monotonic() + 20, threading.Event()), server.count


def test_what_an_able_server_can_do_takes_six_calls():
    assert found(OK) == (ABLE, 6)


def test_the_names_that_a_server_lists_are_harmless_lines():
    hostile = [{"id": "x\nevolve: error: \x1b[2J"}, {"id": 7}]
    assert found(OK, models=hostile)[0].models == ("x evolve: error: [2J", "")


def test_a_server_that_takes_no_such_fields_cannot():
    strict = replace(OK, wants_no=("n", "seed", "stream", "response_format"))
    expected = replace(ABLE, n=False, seed=False, streaming=False, streamed_usage=False)
    assert found(strict) == (expected, 7)


def test_a_server_that_ignores_what_it_is_asked_is_found_out():
    row, _ = found(replace(OK, choices=1))
    assert (row.n, row.json_schema) == (False, False)


@pytest.mark.parametrize(
    ("text", "finish", "follows"),
    [
        ('{"number": 3}', "stop", True),
        ('{"number": 3, "x": 1}', "stop", False),
        ('{"number": true}', "stop", False),
        ('{"num', "length", None),
    ],
)
def test_json_is_checked_and_not_believed(text: str, finish: str, follows: bool | None):
    assert found(Step(text, finish=finish))[0].json_schema is follows


def test_thinking_and_missing_usage_are_seen():
    row, _ = found(replace(NO_USAGE, message={"reasoning": "hm"}))
    assert (row.thinking, row.usage, row.streamed_usage) == (True, False, False)


def test_a_server_that_lists_nothing_leaves_it_open():
    row, _ = found(OK, models=[])
    assert (row.models, row.listed, row.context_tokens, row.reachable) == ((), None, None, True)


def test_a_server_without_a_list_is_tried_all_the_same():
    with FaultServer(lists=False) as server, asked_of(server) as model:
        row = model.capabilities(time.monotonic() + 20, threading.Event())
    assert (row.models, row.listed, row.n, row.reachable) == ((), None, True, True)


def test_a_model_that_is_not_listed_is_told():
    row, _ = found(OK, models=[{"id": "other"}])
    assert (row.listed, row.context_tokens) == (False, None)


def test_a_server_that_refuses_the_key_is_a_row_with_its_problem():
    row, calls = found(failure(401))
    assert (row.reachable, calls) == (False, 1)
    assert "the key was refused" in row.problem


def test_what_fails_in_between_stays_unknown():
    row, _ = found(OK, OK, HTML, HTML)
    assert (row.n, row.streaming) == (None, True)


def test_nothing_said_twice_tells_nothing_of_the_seed():
    assert found(Step("<think>hm", finish="length"))[0].seed is None


def test_a_server_that_refuses_a_temperature_may_take_a_seed():
    assert found(replace(OK, wants_no=("temperature",))) == (ABLE, 7)
