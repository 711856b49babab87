"""Plain data as bytes and back."""

import enum
import json
import math
import struct
import sys
import types
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as some_numpy

from evolve.sandbox import wire
from evolve.sandbox.wire import ARRAY_TYPES, DEPTH, WireError, decode, encode, pack_program, pieces, unpack_program

_TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=8)
_PLAIN = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(_TEXT | some.just("$array"), inner, max_size=4),
    max_leaves=20,
)
_ARRAYS = some.sampled_from(sorted(ARRAY_TYPES)).flatmap(
    lambda name: some_numpy.arrays(numpy.dtype(name), some_numpy.array_shapes(min_dims=0, min_side=0, max_side=4))
)


def payload(text: str | bytes, blob: bytes = b"") -> bytes:
    """A payload with this JSON text, as anybody could write it."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">I", len(data)) + data + blob


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@settings(max_examples=100, deadline=None)
@given(_PLAIN)
def test_plain_data_arrives_as_it_was(value: Any) -> None:
    """With its types, and with mappings that look like our own arrays."""
    assert repr(decode(encode(value))) == repr(value)


@settings(max_examples=100, deadline=None)
@given(some.lists(_ARRAYS, max_size=3))
def test_arrays_arrive_as_they_were(arrays: list[Any]) -> None:
    """Type, shape and every bit of them, NaN included."""
    for sent, got in zip(arrays, decode(encode(arrays)), strict=True):
        assert (got.dtype, got.shape, got.tobytes()) == (sent.dtype, sent.shape, sent.tobytes())
        assert got.flags.writeable


@settings(max_examples=100, deadline=None)
@given(
    some.binary(max_size=200)
    | some.text(max_size=100).map(payload)
    | some.builds(payload, some.text('[]{}":,$0.e-', max_size=40), some.binary(max_size=20))
)
def test_any_bytes_are_data_or_refused(data: bytes) -> None:
    """Never another error, and what is accepted is plain data that can be sent on."""
    try:
        value = decode(data)
    except WireError:
        return
    assert repr(decode(encode(value))) == repr(value)


@settings(max_examples=100, deadline=None)
@given(_PLAIN, _ARRAYS, some.integers(0, 10_000), some.integers(0, 255))
def test_a_changed_byte_is_data_or_refused(value: Any, array: Any, place: int, byte: int) -> None:
    """Messages that are nearly right raise nothing but `WireError`."""
    data = bytearray(encode({"value": value, "array": array}))
    data[place % len(data)] = byte
    try:
        decode(bytes(data))
    except WireError:
        return


@settings(max_examples=100, deadline=None)
@given(some.lists(_PLAIN | _ARRAYS | some.binary(max_size=20), max_size=4), some.data())
def test_what_was_cut_swapped_or_doubled_is_data_or_refused(values: list[Any], data: Any) -> None:
    """Also where bytes may cross, and what is accepted can be sent on."""
    sent = encode(values)
    cuts = sorted(data.draw(some.lists(some.integers(0, len(sent)), min_size=2, max_size=2)))
    start, middle, end = sent[: cuts[0]], sent[cuts[0] : cuts[1]], sent[cuts[1] :]
    for changed in (
        start + middle,
        start + end,
        start + middle * 2 + end,
        middle + start + end,
        start + middle[::-1] + end,
    ):
        try:
            value = decode(changed)
        except WireError:
            continue
        encode(value)


@settings(max_examples=100, deadline=None)
@given(some.dictionaries(_TEXT | some.just("$bytes"), some.binary(max_size=20) | _PLAIN, max_size=4))
def test_bytes_arrive_as_they_were(value: Any) -> None:
    """Where both sides say so, beside anything else."""
    assert repr(decode(encode(value))) == repr(value)


class Level(enum.IntEnum):
    """A subclass of int."""

    HIGH = 3


class Greatest(float):
    """A number that says it is greater than everything."""

    def __gt__(self, other: object) -> bool:
        return True


class Name(str):
    """A subclass of str."""


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ((1, (2, 3)), [1, [2, 3]]),
        (Level.HIGH, 3),
        (Greatest(0.5), 0.5),
        (Name("x"), "x"),
        ({Name("key"): Name("$x")}, {"key": "$x"}),
        (numpy.float32(0.5), 0.5),
        (numpy.int8(-3), -3),
        (numpy.bool_(True), True),
        (numpy.longdouble(1.5), 1.5),
        ([numpy.float64(2.5), None], [2.5, None]),
        ({"$array": ["int8", [1]]}, {"$array": ["int8", [1]]}),
        ({"$$a": 1, "$": 2, "": 3}, {"$$a": 1, "$": 2, "": 3}),
    ],
)
def test_relatives_of_plain_types_arrive_plain(sent: Any, got: Any) -> None:
    """A type that behaves in its own way stays where it is."""
    arrived = decode(encode(sent))
    assert (arrived, type(arrived)) == (got, type(got))


def test_arrays_of_other_layouts_arrive_in_the_usual_one() -> None:
    """Transposed, strided, big-endian and subclassed arrays keep their values."""
    grid = numpy.arange(6.0).reshape(2, 3)
    for sent in (grid.T, grid[:, ::2], grid.astype(">f8"), grid.view(numpy.matrix), numpy.array(3.0)):
        got = decode(encode(sent))
        assert (got.tolist(), type(got), got.dtype.isnative) == (sent.tolist(), numpy.ndarray, True)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({1, 2}, "a value is of type set; allowed are None, bool"),
        (1j, "a value is of type complex"),
        (types.SimpleNamespace(), "a value is of type SimpleNamespace"),
        ({1: 2}, "a mapping has a key of type int; allowed are texts"),
        (numpy.zeros(2, complex), "an array is of type complex128; allowed are bool, int8"),
        (numpy.array([object()]), "an array is of type object"),
        (math.nan, "a number is not a finite number"),
        ([1.0, -math.inf], "a number is not a finite number"),
        (numpy.float32("nan"), "a number is not a finite number"),
        ("\ud800", "half of a surrogate pair"),
        ([10**5000], "digits"),
        (nested(DEPTH + 1), f"nested deeper than {DEPTH} levels"),
    ],
)
def test_what_cannot_cross_is_refused_with_the_reason(value: Any, reason: str) -> None:
    """The message names the type that was got."""
    with pytest.raises(WireError, match=reason):
        encode(value)


def test_a_list_that_holds_itself_is_refused() -> None:
    """There is an end to it."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(WireError, match="nested deeper"):
        encode(endless)


def test_the_deepest_that_may_be_sent_arrives() -> None:
    """Both sides mean the same depth."""
    assert decode(encode(nested(DEPTH))) == nested(DEPTH)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "shorter than its header$"),
        (struct.pack(">I", 9) + b"1", "shorter than its header says"),
        (payload(""), "Expecting value"),
        (payload("[1"), "Expecting"),
        (payload("1 2"), "Extra data"),
        (payload(b'"\xff"'), "utf-8"),
        (payload("NaN"), "NaN is not a finite number"),
        (payload("[-Infinity]"), "-Infinity is not a finite number"),
        (payload("1e999"), "a number is not a finite number"),
        (payload('{"a": [1e999]}'), "a number is not a finite number"),
        (payload('{"a": 1, "a": 2}'), "the same key twice"),
        (payload('"\\ud800"'), "half of a surrogate pair"),
        (payload('{"\\udfff": 1}'), "half of a surrogate pair"),
        (payload("9" * 5000), "digits"),
        (payload("[" * 100_000), "nested deeper"),
        (payload(json.dumps(nested(DEPTH + 2))), "nested deeper"),
        (payload("1", b"x"), "bytes that belong to no array"),
        (payload('{"$array": 1}'), "not described by its type and shape"),
        (payload('{"$array": ["object", [1]]}', b"12345678"), "no type that is allowed"),
        (payload('{"$array": [[], [1]]}'), "no type that is allowed"),
        (payload('{"$array": ["int8", [-1]]}'), "impossible shape"),
        (payload('{"$array": ["int8", [true]]}', b"1"), "impossible shape"),
        (payload('{"$array": ["int8", 3]}'), "impossible shape"),
        (payload(f'{{"$array": ["int8", [0, {10**30}]]}}'), "impossible shape"),
        (payload(f'{{"$array": ["int8", {[1] * 33}]}}', b"1"), "impossible shape"),
        (payload('{"$array": ["float64", [2]]}', b"12345678"), "larger than the bytes"),
        (payload(f'{{"$array": ["int64", [0, {1 << 39}, {1 << 39}]]}}'), "."),
        (payload('{"$array": ["bool", [2]]}', b"\1\2"), "truth values"),
        (payload('{"$other": 1}'), "begins with a single"),
        (payload(b"\x80\x04\x95cposix\nsystem\n."), "utf-8"),
    ],
)
def test_bytes_that_no_honest_sender_writes_are_refused(data: bytes, reason: str) -> None:
    """Each with its reason, and without executing or allocating anything on their behalf."""
    with pytest.raises(WireError, match=reason):
        decode(data)


def test_an_array_where_there_is_no_numpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the sender's fault: nobody could have asked for one."""
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(WireError, match="this Python has no numpy"):
        decode(payload('{"$array": ["int8", [1]]}', b"1"))


def test_bytes_arrive_beside_mappings_that_look_like_them() -> None:
    value = {"a.so": b"\0\xff", "b": [b"", {"$bytes": 1}]}
    assert decode(encode(value)) == value
    assert decode(encode(bytearray(b"ab"))) == b"ab"


def test_bytes_have_a_limit_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = encode([b"abc", b"def"])
    monkeypatch.setattr(wire, "MOST_BYTES", 5)
    assert decode(encode(b"abcde")) == b"abcde"
    with pytest.raises(WireError, match="more than 5 bytes together"):
        encode([b"abc", b"def"])
    monkeypatch.setattr(wire, "MOST_BYTES", 2)
    with pytest.raises(WireError, match="impossible length"):
        decode(sent)


@pytest.mark.parametrize("length", ["-1", "true", "1.0", "3", '"x"'])
def test_bytes_that_cannot_be_are_refused(length: str) -> None:
    """Two came with the text."""
    with pytest.raises(WireError):
        decode(payload(f'{{"$bytes": {length}}}', b"xy"))


def test_a_large_array_is_not_copied_to_be_sent() -> None:
    """Its piece is the array's own memory."""
    array = numpy.zeros(3)
    piece = pieces(array)[1]
    array[0] = 1.0
    assert bytes(piece) == array.tobytes()


def test_a_program_arrives_as_it_was_sent() -> None:
    """Half surrogates too: they are for its compiler to refuse."""
    files, context = {"seed.py": "x = '\ud800 é'\n", "b.py": ""}, {"data.json": "{}"}
    assert unpack_program(pack_program("seed", files, context)) == ("seed", files, context)
