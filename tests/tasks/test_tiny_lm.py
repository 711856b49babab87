"""Facts about the task `tiny_lm`: its coder, its texts, and how it judges."""

import bz2
import importlib.util
import lzma
import math
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from task_files import judging_files

from evolve.evaluation import Job, Report
from evolve.evaluation.cascade import evaluate_job, prepare
from evolve.evaluation.worker import load_evaluator
from evolve.operators.literals import template
from evolve.sandbox.box import Box
from evolve.task import load
from evolve.types import EvolveError, Outcome, Parameters, Trial

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the candidate's processes need Linux"),
]

TASK = load("tiny_lm")
SEED = TASK.seed.files["seed.py"]
FILES: Any = judging_files("tiny_lm", "coder", "corpus")
CODER, CORPUS = FILES.coder, FILES.corpus
QUICK = {"within": 0, "count": 1000, "train_bytes": 20000}
Judged = Callable[..., Report]


@pytest.fixture(scope="module")
def evaluated() -> Iterator[Judged]:
    """Judges a program's source, as one judge process does."""
    box = Box(TASK.limits, context=TASK.context)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        patch.setitem(sys.modules, "evolve_task_evaluator", None)
        bench = prepare(TASK, load_evaluator(TASK))
        for name in ("corpus", "evaluator"):
            sys.modules.pop(name, None)

    def evaluated(source: str = SEED, secret: str = "", **parameters: Any) -> Report:
        trial = Trial(parameters=Parameters({**QUICK, **parameters}), secret=secret)
        job = Job("1.0", "evaluate", trial, {"seed.py": source})
        return evaluate_job(job, bench, lambda program, seconds, job="run": box.open(program, TASK.entry, seconds, job))

    yield evaluated
    box.close()


def bits(report: Report) -> float:
    """Per byte."""
    assert report.evaluation.fitness is not None, report.texts[report.evaluation.feedback]
    return TASK.fitness.shown(report.evaluation.fitness)


def slice_of(parameters: Any) -> bytes:
    return bytes(CORPUS.compressed(parameters["text"], parameters["start"], parameters["count"]))


@pytest.mark.parametrize("seed", range(5))
def test_the_decoder_reads_what_the_encoder_wrote(seed: int) -> None:
    """Random bits with random probabilities, extreme ones too; the code is as long as their information, and a byte or so."""
    rng = np.random.default_rng(seed)
    chances = rng.choice([1, 2, 300, 32768, 60000, 65534, 65535], size=3000)
    written = (rng.random(3000) < chances / CODER.ONE).astype(int).tolist()
    encoder = CODER.Encoder()
    for chance, bit in zip(chances.tolist(), written, strict=True):
        assert encoder.bit(chance, bit) == bit
    code = encoder.code()
    decoder = CODER.Decoder(code)
    assert [decoder.bit(chance) for chance in chances.tolist()] == written
    share = [chance if bit else CODER.ONE - chance for chance, bit in zip(chances.tolist(), written, strict=True)]
    information = -sum(math.log2(one / CODER.ONE) for one in share) / 8
    assert information - 1 <= len(code) <= information * 1.01 + 3


def test_a_code_of_nothing_decodes_to_nothing() -> None:
    """It has one byte, and an empty one is read as zeros."""
    assert len(CODER.Encoder().code()) == 1
    assert CODER.Decoder(b"").bit(32768) == 1


def test_the_texts_are_those_of_the_page() -> None:
    """Python's source, by others."""
    texts = {name: slice_of({"text": name, "start": 0, "count": 60_000}) for name in CORPUS.TEXTS}
    assert all(b"import" in text and text.isascii() for text in texts.values())
    assert not set(texts["bottle"].splitlines()[200:]) >= set(texts["markdown2"].splitlines()[200:])


def test_what_is_trained_on_is_the_standard_library() -> None:
    """The same bytes each time, as many as are wanted."""
    found = bytes(CORPUS.training(50_000))
    assert len(found) == 50_000
    assert b"import " in found
    assert found[:1000] == bytes(CORPUS.training(1000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CORPUS.compressed("moby", 0, 10), "no text 'moby'"),
        (lambda: CORPUS.compressed("bottle", -1, 10), "no 10 of them from -1"),
        (lambda: CORPUS.compressed("bottle", 0, 10**9), "Do: set start and count"),
        (lambda: CORPUS.training(10**9), "Do: set train_bytes to fewer"),
    ],
)
def test_a_text_that_is_not_there_is_one_error(call: Callable[[], object], message: str) -> None:
    """With what to set."""
    with pytest.raises(EvolveError, match=message):
        call()


def test_where_programs_could_read_the_text_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since its package is installed."""
    assert importlib.util.find_spec("bottle") is None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: ModuleType(name))
    with pytest.raises(EvolveError, match=r"is installed in this Python.*Do: uninstall it"):
        CORPUS.compressed("bottle", 0, 10)


def test_known_compressors_have_what_the_page_says_of_them() -> None:
    """Of the first bytes of the text that the search sees, in bits per byte."""
    text = slice_of(TASK.parameters)
    raw = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]
    trained = bytes(CORPUS.training(TASK.parameters["train_bytes"]))
    sizes = {
        "zlib -9": len(zlib.compress(text, 9)),
        "bz2 -9": len(bz2.compress(text, 9)),
        "lzma -9e": len(lzma.compress(text, format=lzma.FORMAT_RAW, filters=raw)),
    }
    for name, told in {"zlib -9": 2.736, "bz2 -9": 2.721, "lzma -9e": 2.669}.items():
        assert 8 * sizes[name] / len(text) == pytest.approx(told, abs=5e-3)
    known = [len(lzma.compress(data, format=lzma.FORMAT_RAW, filters=raw)) for data in (trained + text, trained)]
    assert known[0] - known[1] < 0.9 * sizes["lzma -9e"]


def test_no_program_can_know_which_text_is_compressed(evaluated: Judged) -> None:
    """Each workspace has others, within its case; what fits into a program is little of what may come."""
    codes = {evaluated(ZLIB, secret=secret, within=90_000).evaluation.fitness for secret in ("one", "two", "three")}
    assert len(codes) == 3
    for case in ({}, *(case.parameters for case in TASK.held_out)):
        told = {**TASK.parameters, **case}
        assert len(slice_of({**told, "start": told["start"] + told["within"] - 1})) == told["count"]
    assert len(lzma.compress(slice_of({**TASK.parameters, "count": 90_000}), preset=9)) > 4 * (4 << 10)


def test_the_texts_come_with_their_licences() -> None:
    """Which ask for it."""
    words = (Path(TASK.folder) / "LICENCES.txt").read_text("utf-8")
    assert all(name in words for name in ("Marcel Hellkamp", "Trent Mick", *CORPUS.TEXTS))
    assert words.count("Permission is hereby granted") == 2


ZLIB = """
import zlib
import numpy as np

def fit(text, limit):
    return None

def encode(model, text):
    return np.frombuffer(zlib.compress(bytes(text), 9), dtype=np.uint8)

def decode(model, code, count):
    return np.frombuffer(zlib.decompress(bytes(code)), dtype=np.uint8)
"""


def test_a_known_compressor_gets_the_length_of_its_code(evaluated: Judged) -> None:
    """Eight bits for each byte of it."""
    text = slice_of({**TASK.parameters, **QUICK})
    assert bits(evaluated(ZLIB)) == 8 * len(zlib.compress(text, 9)) / len(text)


def test_the_seed_is_better_than_a_known_compressor_and_has_numbers_to_tune(evaluated: Judged) -> None:
    """Its model, a piece of training text, pays."""
    seed = evaluated()
    assert bits(seed) < bits(evaluated(ZLIB))
    assert bits(seed) < bits(evaluated(SEED.replace("PRIMED = 4000", "PRIMED = 0")))
    assert all(axis.low <= seed.evaluation.descriptors[axis.name] <= axis.high for axis in TASK.axes)
    assert len(template(TASK.seed).values) >= 4
    assert bits(evaluated()) == bits(seed)


@pytest.mark.parametrize(
    "answer", ["None", "b'x'", "list(bytes(text))", "text.astype(np.int16)", "text.reshape(2, -1)", "'code'"]
)
def test_a_code_is_a_flat_array_of_bytes(evaluated: Judged, answer: str) -> None:
    """So that nobody else counts its length."""
    source = ZLIB.replace("np.frombuffer(zlib.compress(bytes(text), 9), dtype=np.uint8)", answer)
    assert evaluated(source).evaluation.outcome is Outcome.INVALID


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("[0] * count", Outcome.WRONG),
        ("[256] * count", Outcome.INVALID),
        ("[0.0] * count", Outcome.INVALID),
        ("[0] * (count - 1)", Outcome.INVALID),
        ("np.zeros(count)", Outcome.INVALID),
        ("np.zeros((count, 1), dtype=np.uint8)", Outcome.INVALID),
        ("None", Outcome.INVALID),
    ],
)
def test_what_is_decoded_is_the_text_to_its_last_byte(evaluated: Judged, answer: str, outcome: Outcome) -> None:
    """And of its type."""
    source = ZLIB.replace("np.frombuffer(zlib.decompress(bytes(code)), dtype=np.uint8)", answer)
    assert evaluated(source).evaluation.outcome is outcome


@pytest.mark.parametrize(
    ("model", "outcome"),
    [
        ("list(__import__('os').urandom(100_000))", Outcome.INVALID),
        ("np.frombuffer(__import__('os').urandom(66_000), dtype=np.uint8)", Outcome.INVALID),
        ("np.zeros(200_000)", Outcome.INVALID),
        ("np.zeros(100_000, dtype=np.uint8)", Outcome.OK),
        ("{'a': [np.zeros(10), 'text', 1.5, None, True]}", Outcome.OK),
    ],
)
def test_a_model_has_a_largest_size_compressed(evaluated: Judged, model: str, outcome: Outcome) -> None:
    """Whatever it consists of; a megabyte is too much as it is."""
    assert evaluated(ZLIB.replace("return None", f"return {model}")).evaluation.outcome is outcome
