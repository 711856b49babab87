"""Facts about `file_codec`, a task of the benchmark of search power: its files, and how a compressor is judged."""

import lzma
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from task_files import judging_files

from evolve import Evaluation, EvolveError
from evolve.task import load
from evolve.types import Outcome, Parameters, Trial

FOLDER = Path(__file__).parents[2] / "benchmarks" / "search_power" / "tasks" / "file_codec"
TASK = load(str(FOLDER))
FILES = judging_files(str(FOLDER), "files", "evaluator")
KINDS = tuple(FILES.files.LAWS)
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def judged(compress: Callable[[bytes], object], decompress: Callable[[Any], object], **parameters: Any) -> Evaluation:
    """What two functions of this process get, as a candidate's."""
    functions = {"compress": compress, "decompress": decompress}
    candidate = SimpleNamespace(call=lambda function, argument: functions[function](argument))
    trial = Trial(parameters=Parameters({**TASK.parameters, "size": 600, **parameters}))
    found: Evaluation = FILES.evaluator.evaluate(candidate, trial)
    return found


def test_lzma_has_1_on_every_file() -> None:
    found = judged(
        lambda data: lzma.compress(data, lzma.FORMAT_RAW, filters=FILTERS),
        lambda packed: lzma.decompress(packed, lzma.FORMAT_RAW, filters=FILTERS),
    )
    assert found.fitness == 1.0
    assert dict(found.cases) == dict.fromkeys(TASK.parameters["kinds"].split(), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_seed_restores_every_kind(kind: str) -> None:
    seed: dict[str, Any] = {}
    exec(TASK.seed.files["seed.py"], seed)
    content = FILES.files.file(kind, 1500, Random(1))
    assert seed["decompress"](seed["compress"](content)) == content


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff" * 3000, bytes(range(256))])
def test_the_seed_restores_extreme_files(content: bytes) -> None:
    seed: dict[str, Any] = {}
    exec(TASK.seed.files["seed.py"], seed)
    assert seed["decompress"](seed["compress"](content)) == content


def test_a_byte_that_differs_is_wrong_and_its_place_is_told() -> None:
    found = judged(lambda data: data, lambda packed: packed[:70] + bytes([packed[70] ^ 1]) + packed[71:])
    assert found.outcome is Outcome.WRONG
    assert "for log: the first difference is at byte 70" in found.feedback


def test_a_byte_that_is_missing_at_the_end_is_wrong() -> None:
    found = judged(lambda data: data, lambda packed: packed[:-1])
    assert found.outcome is Outcome.WRONG
    assert "at byte 599, and 599 bytes were restored of 600" in found.feedback


@pytest.mark.parametrize("packed", ["text", [1, 2], None, 7])
def test_what_is_no_bytes_is_invalid(packed: object) -> None:
    assert judged(lambda data: packed, lambda packed: b"").outcome is Outcome.INVALID
    assert judged(lambda data: data, lambda data: packed).outcome is Outcome.INVALID


def test_the_feedback_shows_no_byte_of_the_files_that_count() -> None:
    files: list[bytes] = []
    found = judged(lambda data: (files.append(data), data)[1], lambda packed: packed)
    assert len(files) == 6
    # A header and the form of a kind are in all of its files: what comes after them is drawn.
    assert all(content[60:120].decode("latin-1") not in found.feedback for content in files)
    assert "[" in found.feedback
    assert "time,place,level" in found.feedback


@pytest.mark.parametrize("kind", KINDS)
def test_files_have_the_wanted_size_and_are_drawn(kind: str) -> None:
    content = FILES.files.file(kind, 2000, Random(1))
    assert len(content) == 2000
    assert content == FILES.files.file(kind, 2000, Random(1))
    assert content[100:] != FILES.files.file(kind, 2000, Random(2))[100:]


def test_a_kind_that_there_is_not_is_an_error_that_names_the_others() -> None:
    with pytest.raises(EvolveError, match="log csv"):
        FILES.files.file("logs", 10, Random(1))
