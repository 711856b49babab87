"""The words of `--devices`."""

import pytest
from nvidia_fakes import GPUS, UUIDS

from evolve.devices import Grant, filter_gpus, parse
from evolve.types import ConfigError

CORES = range(8)


@pytest.mark.parametrize(
    ("words", "grant"),
    [
        ((), Grant()),
        (("cpu",), Grant(tuple(CORES), ())),
        (("cpu:0-2,5",), Grant((0, 1, 2, 5), ())),
        (("gpu",), Grant(None, UUIDS)),
        (("gpu:1,0",), Grant(None, (UUIDS[1], UUIDS[0]))),
        ((UUIDS[1],), Grant(None, (UUIDS[1],))),
        (("gpu:0", "cpu:0-1,4"), Grant((0, 1, 4), (UUIDS[0],))),
        (("gpu:0", "gpu:0", "cpu:7"), Grant((7,), (UUIDS[0],))),
    ],
)
def test_words_grant_what_they_name(words: tuple[str, ...], grant: Grant) -> None:
    """Words about cores alone grant no GPU; words about GPUs alone grant all cores."""
    assert parse(words, GPUS, CORES) == grant


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("cpu:8", "there is no core 8 here, but 0-7"),
        ("cpu:1-x", "numbers are written like 0-3,8, got '1-x'"),
        ("gpu:2-3", "there is no GPU 2-3 here, but 0-1"),
        ("gpu:one", "numbers are written like"),
        ("tpu", "--devices tpu: there is no such device"),
        ("0", "--devices 0: there is no such device"),
        ("GPU-gone", "--devices GPU-gone: there is no such device"),
        (",", "--devices ,: there is no such device"),
        ("gpu:0,cpu:0", "numbers are written like"),
    ],
)
def test_a_word_that_names_nothing_is_an_error(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        parse([word], GPUS, CORES)
    assert "Try: " in str(raised.value)


def test_without_a_gpu_none_can_be_granted() -> None:
    with pytest.raises(ConfigError, match="no GPU was found on this machine"):
        parse(["gpu"], (), CORES)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (None, (0, 1)),
        ("", ()),
        ("-1", ()),
        ("1", (1,)),
        ("1,0", (0, 1)),
        (UUIDS[0], (0,)),
        ("GPU-bbbb", (1,)),
        ("0,7,1", (0,)),
    ],
)
def test_without_words_the_variable_of_cuda_says_which(told: str | None, found: tuple[int, ...]) -> None:
    """As for CUDA, nothing counts behind a name that is no device's."""
    environment = {} if told is None else {"CUDA_VISIBLE_DEVICES": told}
    assert filter_gpus(GPUS, Grant(), environment) == [GPUS[index] for index in found]


def test_words_come_before_the_variable() -> None:
    assert filter_gpus(GPUS, Grant(gpus=(UUIDS[1],)), {"CUDA_VISIBLE_DEVICES": "0"}) == [GPUS[1]]
